"""What becomes of each numbered source before a model reads it: condensed, set aside, or kept whole. Pure.

A summary counts only when its form is right, it is shorter than the passage, and every figure in it stands
in the passage. Whatever is wrong with one, that passage is kept whole and the reason counted. Numbers are
never given anew: a source that is set aside keeps its own and is missing from the prompt.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from answers.quantities import figures, missing
from corpus.normalise import visible

# A passage below this is not worth a request: the summary would be as long.
SHORTEST_BODY = 200
RECORD = "compression"
_HIGHEST_RELEVANCE = 10


class Outcome(StrEnum):
    """What became of one source. All but the first two keep it whole, and say why."""

    CONDENSED = "condensed"
    SET_ASIDE = "set_aside"
    SHORT = "short"
    NO_DERIVATIVES = "no_derivatives"
    # Every passage was called irrelevant: then the model's word is not taken.
    ALL_IRRELEVANT = "all_irrelevant"
    # The reply was not what was asked for.
    MALFORMED = "malformed"
    FIGURES = "figures"
    LONGER = "longer"
    # The model failed, by the codes of `ModelError`.
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    RATE_LIMITED = "rate_limited"
    REJECTED = "rejected"
    GARBAGE = "garbage"
    CUT_OFF = "cut_off"
    # The licence of the text keeps it from this model.
    WITHHELD = "withheld"
    BROKEN = "broken"


_NO_FAILURE = frozenset(
    {Outcome.CONDENSED, Outcome.SET_ASIDE, Outcome.SHORT, Outcome.NO_DERIVATIVES, Outcome.ALL_IRRELEVANT}
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of one source; `summary` stands in its place when it is condensed."""

    outcome: Outcome
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Condensed:
    """The verdicts on all numbered sources, in their order, and who gave them.

    `prompt_tokens` and `completion_tokens` are what the summaries took, as far as it is known.
    """

    verdicts: tuple[Verdict, ...]
    model: str
    prompt_sha256: str
    floor: int
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def bodies(self, bodies: Sequence[str]) -> list[str | None]:
        """Return what the prompt holds in the place of each of `bodies`; None for one that is set aside."""
        return [_body(verdict, body) for verdict, body in zip(self.verdicts, bodies, strict=True)]

    def record(self, *, before: int, after: int) -> dict[str, Any]:
        """Return what is kept of it; `before` and `after` are tokens of the prompt without and with it."""
        counts = Counter(verdict.outcome for verdict in self.verdicts)
        whole = {
            outcome.value: count
            for outcome, count in sorted(counts.items())
            if outcome not in {Outcome.CONDENSED, Outcome.SET_ASIDE}
        }
        return {
            "model": self.model,
            "prompt_sha256": self.prompt_sha256,
            "floor": self.floor,
            "condensed": counts[Outcome.CONDENSED],
            "set_aside": counts[Outcome.SET_ASIDE],
            "whole": whole,
            "failures": sum(count for outcome, count in counts.items() if outcome not in _NO_FAILURE),
            "tokens": {"before": before, "after": after},
            "taken": {"prompt": self.prompt_tokens, "completion": self.completion_tokens},
            "sources": [verdict.outcome.value for verdict in self.verdicts],
        }


def _body(verdict: Verdict, body: str) -> str | None:
    if verdict.outcome is Outcome.SET_ASIDE:
        return None
    return verdict.summary if verdict.outcome is Outcome.CONDENSED else body


def kept_from(*, body: str, no_derivatives: bool) -> Verdict | None:
    """Return the verdict on a passage that no model is asked about; None for all others."""
    if no_derivatives:
        return Verdict(Outcome.NO_DERIVATIVES)
    return Verdict(Outcome.SHORT) if len(body) < SHORTEST_BODY else None


def verdict(reply: str, *, body: str, floor: int) -> Verdict:
    """Return what a model's `reply` about `body` is worth; below `floor` the passage is set aside."""
    read = _read(reply)
    if read is None:
        return Verdict(Outcome.MALFORMED)
    relevance, summary = read
    if relevance < floor:
        return Verdict(Outcome.SET_ASIDE)
    summary = " ".join(visible(summary).split())
    if not summary:
        return Verdict(Outcome.MALFORMED)
    if len(summary) >= len(body):
        return Verdict(Outcome.LONGER)
    if missing(figures(summary), figures(body)):
        return Verdict(Outcome.FIGURES)
    return Verdict(Outcome.CONDENSED, summary)


def settled(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Return `verdicts`, or every passage whole where nothing would be left to answer from."""
    if all(verdict.outcome is Outcome.SET_ASIDE for verdict in verdicts):
        return tuple(Verdict(Outcome.ALL_IRRELEVANT) for _ in verdicts)
    return tuple(verdicts)


def set_aside(parameters: Mapping[str, Any]) -> frozenset[int]:
    """Return the numbers of the sources that were set aside, by the stored parameters of an answer."""
    outcomes = parameters.get(RECORD, {}).get("sources", [])
    return frozenset(number for number, outcome in enumerate(outcomes, 1) if outcome == Outcome.SET_ASIDE)


def _read(reply: str) -> tuple[int, str] | None:
    """Return relevance and summary; None for anything but the form that was asked for."""
    try:
        value = json.loads(reply)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.keys() != {"relevance", "summary"}:
        return None
    relevance, summary = value["relevance"], value["summary"]
    if type(relevance) is not int or not 0 <= relevance <= _HIGHEST_RELEVANCE:
        return None
    return (relevance, summary) if isinstance(summary, str) else None
