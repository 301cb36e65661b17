"""Asking a model about the pairs whose spelling leaves it open: one request, bounded, untrusted."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

import structlog

from corpus.connections import release
from corpus.egress import NOTHING_HELD, Classes, classes_of
from corpus.gateways.llm import ChatModel, ModelError, complete
from corpus.prompt_files import prompt_file, quoted
from corpus.usage import accounts, estimating
from corpus.usage.estimating import Estimate
from corpus.usage.purposes import Purpose
from retrieval.graph.resolution import reading, replies
from retrieval.graph.resolution.reading import Use
from retrieval.graph.resolution.types import Named, Pair

logger = structlog.get_logger(__name__)

PROMPT: Final = "resolve_entities"
MOST_PAIRS: Final = 40
_SECONDS = 120.0
_LONGEST_NAME = 200
_LONGEST_SENTENCE = 400
# {"pair": 1, "same": true} and what stands around it.
_TOKENS_A_DECISION = 11


@dataclass(frozen=True, slots=True)
class Judged:
    """What a model said. `undecided` counts the pairs it said nothing usable about, by reason.

    `failure` is the code of why the model gave no reply, `stopped` what of a cap kept it from being asked.
    """

    same: tuple[Pair, ...] = ()
    different: tuple[Pair, ...] = ()
    undecided: Counter[str] = field(default_factory=Counter)
    failure: str = ""
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What a model would be asked: about which pairs, in which words, and why not about the others."""

    pairs: tuple[Pair, ...]
    system: str
    user: str
    carries: Classes
    left: Counter[str]

    def estimate(self, model: ChatModel) -> Estimate:
        """Return what asking comes to."""
        prompts = [(self.system, self.user)] if self.pairs else []
        line = estimating.line(
            purpose=Purpose.RESOLUTION,
            model=model.name,
            calls=len(prompts),
            prompts=prompts,
            reply_tokens=_TOKENS_A_DECISION * len(self.pairs),
        )
        return Estimate((line,))


def question(pairs: Sequence[Pair], names: Mapping[UUID, Named], *, readable: Classes) -> Question:
    """Return what to ask about the first pairs, as many as one request holds.

    Only sentences go out whose document may be rewritten and is of a class that is `readable`, with the name
    as they spell it; a pair that has none on a side is not asked about.
    """
    used = reading.uses({end for pair in pairs for end in pair.ids}, classes=readable)
    can_be_asked = [pair for pair in pairs if all(end in used for end in pair.ids)]
    asked = tuple(can_be_asked[:MOST_PAIRS])
    left = Counter(no_sentence=len(pairs) - len(can_be_asked), later=len(can_be_asked) - len(asked))
    if not asked:
        return Question((), "", "", NOTHING_HELD, +left)
    system, user = prompt_file(PROMPT).fill(_values(asked, names, used))
    carries = classes_of(used[end].license_class for pair in asked for end in pair.ids)
    return Question(asked, system, user, carries, +left)


def judge(model: ChatModel, question: Question) -> Judged:
    """Ask. A pair without a clear decision stays two; where the cap leaves no room nobody is asked."""
    asked = question.pairs
    if not asked:
        return Judged(undecided=question.left)
    budget = accounts.current().budget
    stopped = "" if budget is None else budget.in_the_way_of(question.estimate(model).tokens)
    if stopped:
        return Judged(undecided=question.left + Counter(cap=len(asked)), stopped=stopped)
    release()
    try:
        reply, _ = complete(
            model,
            system=question.system,
            user=question.user,
            purpose=Purpose.RESOLUTION,
            carries=question.carries,
            timeout=_SECONDS,
        )
    except ModelError as error:
        logger.warning("graph.pairs_not_judged", code=error.code, pairs=len(asked))
        return Judged(undecided=question.left + Counter(failed=len(asked)), failure=error.code)
    decisions = replies.read(reply, count=len(asked))
    unclear = Counter({reason.value: number for reason, number in decisions.unclear.items()})
    same = tuple(pair for number, pair in enumerate(asked, start=1) if decisions.said.get(number) is True)
    different = tuple(
        pair for number, pair in enumerate(asked, start=1) if decisions.said.get(number) is False
    )
    return Judged(same, different, +(question.left + unclear))


def _values(pairs: Sequence[Pair], names: Mapping[UUID, Named], used: Mapping[UUID, Use]) -> dict[str, str]:
    nonce = secrets.token_hex(16)
    fenced = []
    for number, pair in enumerate(pairs, start=1):
        sides = [
            f"{letter} ({names[end].type}): {quoted(used[end].name, longest=_LONGEST_NAME)}\n"
            f"{letter} is used here: {quoted(used[end].sentence, longest=_LONGEST_SENTENCE)}"
            for letter, end in zip("AB", pair.ids, strict=True)
        ]
        fenced.append(f"<pair-{nonce} number={number}>\n" + "\n".join(sides) + f"\n</pair-{nonce}>")
    return {"nonce": nonce, "count": str(len(pairs)), "pairs": "\n\n".join(fenced)}
