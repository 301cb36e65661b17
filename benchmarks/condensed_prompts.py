"""What condensing the sources takes off the prompt that an answer is written from.

    python -m benchmarks.condensed_prompts [--fast]

The questions of the demo corpus are answered by a scripted model behind the real protocol, each once with
its sources whole and once condensed. The script's summary of a passage is the two sentences that share most
words with the question, and its relevance the share of the question's words that they hold: a stand-in with
the length of a good summary, not a judgement of one. Every ninth reply is not what was asked for. Gates on
what must hold: numbers of sources are the same both times, each bad reply is counted and costs its passage
alone, and the prompt is shorter.
"""

from __future__ import annotations

import json
import re
import sys
from itertools import count
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks import database

if TYPE_CHECKING:
    from tests.loopback.openai_server import Reply, Request

FAST, EVERY_NTH_IS_BAD = "fast-model", 9
_PASSAGE = re.compile(r"<passage-\w+>\nTitle: [^\n]*\n\n(.*)\n</passage-", re.DOTALL)


def main() -> int:
    """Measure and print; 1 when something that must hold does not."""
    database.start()
    from django.conf import settings

    from corpus.domain_profile import active_profile
    from corpus.ingestion import ingest
    from corpus.inputs import from_manifest
    from tests.loopback.openai_server import OpenAIServer

    demo = settings.DOMAIN_DIR / "demo"
    ingest(from_manifest(demo / "manifest.jsonl"))
    seeds = (demo / "seed_questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in seeds if line.startswith("{")]
    questions = questions[:3] if "--fast" in sys.argv else questions
    if active_profile().compression.profiles:
        sys.exit("This needs the domain profile as it comes, with compression off.")
    script = _Script()
    with OpenAIServer() as server:
        settings.SCI_RAG_LLM_MODEL, settings.SCI_RAG_FAST_MODEL = "openai/writer", f"openai/{FAST}"
        settings.SCI_RAG_LLM_API_BASE, settings.SCI_RAG_LLM_API_KEY = server.base_url, "sk-benchmark"
        server.will_choose(script)
        pairs = [_both_ways(question) for question in questions]
    return _report(pairs, bad=script.bad)


class _Script:
    """What the model says: a citation to whoever writes, two sentences to whoever condenses."""

    def __init__(self) -> None:
        self._asked = count(1)
        self.bad = 0

    def __call__(self, request: Request) -> Reply:
        from tests.loopback.openai_server import says

        if request.body["model"] != FAST:
            return says("The first source says it [1].")
        if next(self._asked) % EVERY_NTH_IS_BAD == 0:
            self.bad += 1
            return says("I would rather not.")
        return says(json.dumps(_summary(request.prompt)))


def _summary(prompt: str) -> dict[str, Any]:
    from answers.terms import terms
    from corpus.sentences import sentences

    wanted = set(terms(prompt.rpartition("\n\n")[2]))
    passage = _PASSAGE.search(prompt)
    found = sentences(passage[1]) if passage else []
    best = sorted(found, key=lambda sentence: -len(wanted & set(terms(sentence))))[:2]
    held = wanted & set(terms(" ".join(best)))
    return {"relevance": round(10 * len(held) / max(1, len(wanted))), "summary": " ".join(best)}


def _both_ways(question: str) -> tuple[Any, Any]:
    """Return the answers of `question` from whole and from condensed sources."""
    from unittest.mock import patch

    from answers import compression, engine
    from corpus.domain_profile import CompressionProfile, active_profile
    from corpus.scope import RetrievalScope

    switched_on = active_profile().model_copy(
        update={"compression": CompressionProfile(profiles=("interactive",), seconds=60)}
    )

    def answered() -> Any:
        return engine.answer(question=question, requested=RetrievalScope(), by=None)

    whole = answered()
    with patch.object(compression, "active_profile", lambda: switched_on):
        return whole, answered()


def _report(pairs: list[tuple[Any, Any]], *, bad: int) -> int:
    records = [condensed.model_parameters["compression"] for _, condensed in pairs if _has_sources(condensed)]
    before = [record["tokens"]["before"] for record in records]
    after = [record["tokens"]["after"] for record in records]
    sums = {name: sum(record[name] for record in records) for name in ("condensed", "set_aside")}
    whole: dict[str, int] = {}
    for record in records:
        for reason, number in record["whole"].items():
            whole[reason] = whole.get(reason, 0) + number
    sources = sum(len(record["sources"]) for record in records)
    moved = sum(_numbered(plain) != _numbered(condensed) for plain, condensed in pairs)
    kept = ", ".join(f"{number} {reason}" for reason, number in sorted(whole.items()))
    print(f"{len(records)} questions, {sources} sources")
    print(f"{sums['condensed']} condensed, {sums['set_aside']} set aside; kept whole: {kept or 'none'}")
    print(
        f"prompt, word pieces: {sum(before):,} -> {sum(after):,} ({sum(after) / sum(before):.0%} of before)"
    )
    print(f"median prompt: {median(before):,.0f} -> {median(after):,.0f}")
    print(f"answers whose sources have other numbers: {moved}")
    return int(bool(moved) or sum(after) >= sum(before) or whole.get("malformed", 0) != bad)


def _has_sources(answer: Any) -> bool:
    return bool(answer.sources.exists())


def _numbered(answer: Any) -> list[tuple[int, str]]:
    return list(answer.sources.order_by("number").values_list("number", "content_sha256"))


if __name__ == "__main__":
    sys.exit(main())
