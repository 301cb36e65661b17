"""Re-embed a corpus to other dimensions while people ask: `python -m benchmarks.reindex_live [--fast]`.

20,000 short passages (2,000 with --fast) go from 384 to 256 dimensions of the offline model while four
askers ask without pause, under a restricted scope and without one. Gates: no request fails or is degraded,
no statement compares vectors of two versions, every result equals the old version's until the switch and
the new one's after it.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Sequence
from itertools import pairwise
from time import perf_counter
from typing import Any

from benchmarks import database

OLD, NEW = "all-MiniLM-L6-v2@384", "all-MiniLM-L6-v2@256"
ASKERS = 4
PER_DOCUMENT = 50
CROPS = "barley maize millet oats rice rye sorghum soy sunflower wheat".split()
TREATMENTS = "ash biochar clover compost digestate gypsum lime manure mulch slurry".split()
EFFECTS = (
    "held more water", "lost less nitrogen", "grew taller", "yielded more grain", "rotted sooner",
    "flowered later", "took up more phosphorus", "lodged less", "kept its leaves", "rooted deeper",
)  # fmt: skip
SOILS = "chalk clay gravel loam loess marl peat sand silt till".split()
QUESTIONS = [f"What did {treatment} do to {crop}?" for treatment in TREATMENTS[:4] for crop in CROPS[:5]]

Asked = tuple[str, str, str, tuple[str, ...], tuple[str, ...], float]


def body(number: int) -> str:
    """Return a passage of its own: four words vary, and the number of the plot."""
    crop, treatment = CROPS[number % 10], TREATMENTS[number // 10 % 10]
    return (
        f"Plot {number}: on {SOILS[number // 1000 % 10]}, with {treatment}, {crop} "
        f"{EFFECTS[number // 100 % 10]}."
    )


def fill(passages: int) -> float:
    """Store the corpus in the old version, every second document public; return the seconds."""
    import hashlib

    from django.db import transaction

    from corpus import vectors
    from corpus.egress import NOTHING_HELD
    from corpus.gateways.embedding import embedder_of
    from corpus.identity import body_sha256, rank_key
    from corpus.models import Chunk, Document
    from corpus.search_text import search_form

    started = perf_counter()
    embedder = embedder_of(OLD)
    version = vectors.ensure_version(embedder)
    for number in range(passages // PER_DOCUMENT):
        digest = hashlib.sha256(f"trial {number}".encode()).hexdigest()
        bodies = [body(number * PER_DOCUMENT + place) for place in range(PER_DOCUMENT)]
        rows = embedder.embed(bodies, task="document", carries=NOTHING_HELD)
        with transaction.atomic():
            document = Document.objects.create(
                title=f"Trial {number}", content_sha256=digest, file_sha256=digest, file_name=f"{number}.txt",
                media_type="text/plain", parser="benchmark", chunk_count=PER_DOCUMENT, state="ready",
                year=2020, license_class="public" if number % 2 == 0 else "restricted",
            )  # fmt: skip
            chunks = Chunk.objects.bulk_create(
                Chunk(
                    document=document, ordinal=place, body=text, content=text, token_count=12,
                    content_sha256=body_sha256(text), rank_key=rank_key(digest, place),
                    search_heading=search_form(document.title), search_body=search_form(text),
                )
                for place, text in enumerate(bodies)
            )  # fmt: skip
            vectors.store(version=version, chunks=chunks, vectors=rows)
    return perf_counter() - started


def ask(question: str, name: str) -> Asked:
    """Ask once, within the scope called `name`."""
    from corpus.scope import scope
    from retrieval.retriever import retrieve

    wanted = scope(license_classes=["public"]) if name == "public" else scope()
    started = perf_counter()
    result = retrieve(question=question, scope=wanted)
    milliseconds = (perf_counter() - started) * 1000
    found = tuple(item.id for item in result.items)
    return question, name, result.embedding_version, found, result.degraded, milliseconds


def all_questions() -> list[Asked]:
    """Ask every question in every scope, once."""
    return [ask(question, name) for question in QUESTIONS for name in ("all", "public")]


class Asker(threading.Thread):
    """Asks without pause until it is told to stop."""

    def __init__(self, stop: threading.Event) -> None:
        super().__init__()
        self.stop = stop
        self.answers: list[Asked] = []
        self.failures: list[str] = []

    def run(self) -> None:
        """Keep every result, and why one failed."""
        from django.db import connection

        try:
            while not self.stop.is_set():
                for question in QUESTIONS:
                    for name in ("all", "public"):
                        self.answers.append(ask(question, name))
        except Exception as error:  # noqa: BLE001 - a failure is what is counted
            self.failures.append(repr(error))
        finally:
            connection.close()


def watched_searches() -> list[str]:
    """Have every statement that compares vectors name one version, with a vector as long; return offences."""
    from django.db.backends.utils import CursorWrapper

    lengths: dict[int, int] = {}
    offences: list[str] = []
    execute = CursorWrapper.execute

    def checking(self: Any, sql: Any, params: Any = None) -> Any:
        if "<=>" in str(sql):
            version, vector = params[-3:-1]
            length = len(json.loads(vector))
            one_version = "WHERE embedding.version_id = %s" in str(sql)
            if not one_version or lengths.setdefault(version, length) != length:
                offences.append(f"version {version}, {length} dimensions")
        return execute(self, sql, params)

    CursorWrapper.execute = checking  # type: ignore[method-assign]
    return offences


class Progress:
    """Prints how far the re-embedding is, and remembers when it began."""

    def begin(self, total: int) -> None:
        """Print the total."""
        self.total, self.done, self.started = total, 0, perf_counter()

    def advance(self, count: int) -> None:
        """Print every tenth part."""
        before, self.done = self.done, self.done + count
        if self.done * 10 // self.total > before * 10 // self.total:
            print(
                f"  {self.done:,} of {self.total:,} after {perf_counter() - self.started:.0f} s", flush=True
            )


def quantiles(answers: Sequence[Asked]) -> str:
    """Return the median and the 95th percentile of the times."""
    times = sorted(answer[5] for answer in answers) or [0.0]
    return (
        f"p50 {times[len(times) // 2]:.0f} ms, p95 {times[int(len(times) * 0.95)]:.0f} ms, n {len(times):,}"
    )


def by_question(answers: Sequence[Asked]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the results by question and scope."""
    return {(question, name): found for question, name, _, found, _, _ in answers}


def main() -> int:
    """Run it; return 1 when a gate is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true", help="2,000 passages")
    passages = 2_000 if parser.parse_args().fast else 20_000
    database.start()
    from corpus import reembedding
    from corpus.gateways.embedding import embedder_of

    print(f"{passages:,} passages stored in {fill(passages):.0f} s")
    offences = watched_searches()
    before = all_questions()
    stop = threading.Event()
    askers = [Asker(stop) for _ in range(ASKERS)]
    for asker in askers:
        asker.start()
    started = perf_counter()
    reached = reembedding.reindex(embedder=embedder_of(NEW), switches=True, watcher=Progress())
    seconds = perf_counter() - started
    after = all_questions()
    stop.wait(3)
    stop.set()
    for asker in askers:
        asker.join(60)
    return verdict(before, after, askers, offences, reached, seconds)


def verdict(
    before: list[Asked],
    after: list[Asked],
    askers: list[Asker],
    offences: list[str],
    reached: Any,
    seconds: float,
) -> int:
    """Print what was found; return 1 when a gate is missed."""
    answers = [answer for asker in askers for answer in asker.answers]
    expected = {OLD: by_question(before), NEW: by_question(after)}
    wrong = [a for a in answers if expected.get(a[2], {}).get((a[0], a[1])) != a[3]]
    degraded = [a for a in answers if a[4]]
    back = sum(
        earlier[2] == NEW and later[2] == OLD
        for asker in askers
        for earlier, later in pairwise(asker.answers)
    )
    failures = [failure for asker in askers for failure in asker.failures]
    counts = {version: sum(a[2] == version for a in answers) for version in (OLD, NEW)}
    shared = [
        len(set(expected[OLD][key]) & set(expected[NEW][key])) / max(1, len(expected[OLD][key]))
        for key in expected[OLD]
    ]
    rate = reached.embedded / seconds
    print(f"re-embedded and switched in {seconds:.0f} s, {rate:.0f} passages/s beside traffic")
    print(f"alone, old version:   {quantiles(before)}")
    print(f"live, old version:    {quantiles([a for a in answers if a[2] == OLD])}")
    print(f"live, new version:    {quantiles([a for a in answers if a[2] == NEW])}")
    print(f"of the old version's results the new one has {sum(shared) / len(shared):.0%}")
    gates = {
        "requests that failed": len(failures),
        "requests that were degraded": len(degraded),
        "results that are neither version's": len(wrong),
        "steps back to the old version": back,
        "statements that mix versions": len(offences),
        "passages without a new vector": reached.missing,
        "versions nobody was answered from": sum(count == 0 for count in counts.values()),
    }
    for name, count in gates.items():
        print(f"{name}: {count}")
    for failure in failures[:3]:
        print(failure)
    return 1 if any(gates.values()) or not reached.is_active else 0


if __name__ == "__main__":
    sys.exit(main())
