"""The compression gate: whether condensed sources cost anything, and whether they save anything. Pure.

Both runs asked the same questions of the same corpus and were graded by the same judge. Condensing is adopted
only when no judged dimension fell out of its paired interval and the median prompt got measurably shorter;
what cannot be said speaks against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

from evaluation.judging.rubric import LABELS
from evaluation.judging.summary import NAME
from evaluation.metrics.significance import FEWEST, TOO_FEW, change_of_medians
from evaluation.reports.comparison import CORPUS, Compared, Comparison, Differs, Incomparable, compare

Report = dict[str, Any]
# What may differ between the two runs: the thing that is measured.
_MEASURED = "compressed"


@dataclass(frozen=True, slots=True)
class Dimension:
    """How one dimension fared. `holds` when nothing says that it got worse."""

    name: str
    before: float
    after: float
    delta: float
    interval: tuple[float, float] | None

    @property
    def holds(self) -> bool:
        """Whether no loss was shown: the interval of the paired difference does not lie below zero."""
        return self.interval is not None and self.interval[1] >= 0

    def as_dict(self) -> dict[str, Any]:
        """Return JSON values; what cannot be said is a word."""
        return {
            "dimension": self.name,
            "before": self.before,
            "after": self.after,
            "delta": self.delta,
            "interval": TOO_FEW if self.interval is None else list(self.interval),
            "holds": self.holds,
        }


@dataclass(frozen=True, slots=True)
class Tokens:
    """The prompts that answers were written from, as the provider counted them, over the same questions."""

    questions: int
    before: float | None = None
    after: float | None = None
    change: float | None = None
    interval: tuple[float, float] | None = None

    @property
    def fell(self) -> bool:
        """Whether the median fell measurably: the whole interval of its change lies below zero."""
        return self.interval is not None and self.interval[1] < 0

    def as_dict(self) -> dict[str, Any]:
        """Return JSON values; what cannot be said is a word."""
        unknown = "unknown" if self.before is None else None
        return {
            "questions": self.questions,
            "before": unknown or self.before,
            "after": unknown or self.after,
            "change": unknown or self.change,
            "interval": unknown or (TOO_FEW if self.interval is None else list(self.interval)),
            "fell": self.fell,
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate decided, and on what numbers. `reasons` speak against adopting; without any it is."""

    dimensions: tuple[Dimension, ...]
    tokens: Tokens
    compression: dict[str, int]
    warnings: tuple[str, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return what speaks against adopting, in words."""
        return (*filter(None, map(_against, self.dimensions)), *filter(None, [_against_tokens(self.tokens)]))

    @property
    def adopts(self) -> bool:
        """Whether condensing may be adopted."""
        return not self.reasons

    def numbers(self) -> dict[str, Any]:
        """Return what the decision rests on as JSON values."""
        return {
            "dimensions": [one.as_dict() for one in self.dimensions],
            "tokens": self.tokens.as_dict(),
            "compression": self.compression,
            "warnings": list(self.warnings),
        }


def decide(before: Report, after: Report) -> Verdict:
    """Decide by a run `before` with whole sources and one `after` it with condensed ones.

    Raises `Incomparable` naming everything else in which they differ.
    """
    differs = [*_other_differences(before, after), *_wrong_sides(before, after)]
    try:
        found = compare(before, after)
    except Incomparable as error:
        raise Incomparable([*error.differs, *differs]) from None
    if differs:
        raise Incomparable(differs)
    warned = dict.fromkeys([*before["warnings"], *after["warnings"]])
    return Verdict(_dimensions(found), _tokens(before, after), after["numbers"]["compression"], tuple(warned))


def _other_differences(before: Report, after: Report) -> list[Differs]:
    """Return what else was not the same: models, prompts, code, and how answers were asked for."""
    found = [
        Differs(f"condition {name}", str(one)[:80], str(other)[:80])
        for name, one, other in _unlike(before["conditions"], after["conditions"])
    ]
    found += [
        Differs(name, str(one), str(other))
        for name, one, other in _unlike(before["parameters"], after["parameters"])
        if name != _MEASURED
    ]
    if before["code_version"] != after["code_version"]:
        found.append(Differs("code", before["code_version"], after["code_version"]))
    return found


def _unlike(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    names = dict.fromkeys([*before, *after])
    return [
        (name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)
    ]


def _wrong_sides(before: Report, after: Report) -> list[Differs]:
    """Say it when a run did not do what its side is there for, or did it over more than one corpus."""
    found = []
    condensed = [side["numbers"].get("compression", {}).get("answers", 0) for side in (before, after)]
    if condensed[0]:
        found.append(Differs("sources before", f"condensed in {condensed[0]} answers", "whole wanted"))
    if not condensed[1]:
        found.append(Differs("sources after", "condensed in no answer", "condensed wanted"))
    changed = [str(side["numbers"].get("changed", 0)) for side in (before, after)]
    if changed != ["0", "0"]:
        found.append(Differs(CORPUS[0], *(f"changed under {number} answers" for number in changed)))
    return found


def _dimensions(found: Comparison) -> tuple[Dimension, ...]:
    return tuple(_dimension(one) for one in found.measures)


def _dimension(one: Compared) -> Dimension:
    spread = one.difference.interval
    return Dimension(
        name=one.measure,
        before=one.before or 0.0,
        after=one.after or 0.0,
        delta=one.difference.delta or 0.0,
        interval=None if spread is None else (spread.low, spread.high),
    )


def _tokens(before: Report, after: Report) -> Tokens:
    """Compare the prompts of the questions that a model answered on both sides."""
    earlier = {one["key"]: _prompt(one) for one in before["questions"]}
    both = [(earlier[one["key"]], _prompt(one)) for one in after["questions"]]
    pairs = [(one, other) for one, other in both if one is not None and other is not None]
    if not pairs:
        return Tokens(0)
    whole, condensed = [one for one, _ in pairs], [other for _, other in pairs]
    change, spread = change_of_medians(whole, condensed)
    return Tokens(
        questions=len(pairs),
        before=float(median(whole)),
        after=float(median(condensed)),
        change=change,
        interval=None if spread is None else (spread.low, spread.high),
    )


def _prompt(question: Report) -> int | None:
    number: int | None = question["results"].get(NAME, {}).get("prompt_tokens")
    return number


def _against(one: Dimension) -> str:
    name = LABELS.get(one.name, one.name)
    if one.interval is None:
        return f"{name}: {TOO_FEW}, {FEWEST} are the fewest"
    if one.holds:
        return ""
    low, high = one.interval
    return (
        f"{name} fell by {-one.delta:.3f}, from {one.before:.3f} to {one.after:.3f} [{low:.3f}, {high:.3f}]"
    )


def _against_tokens(tokens: Tokens) -> str:
    if tokens.before is None or tokens.after is None:
        return "Nobody counted the tokens of the prompts: the model does not say how many it read"
    if tokens.interval is None:
        return f"Prompts: {TOO_FEW}, {FEWEST} are the fewest"
    if tokens.fell:
        return ""
    low, high = tokens.interval
    return (
        f"Prompts did not get measurably shorter: the median went from {tokens.before:,.0f} to "
        f"{tokens.after:,.0f} tokens, by {tokens.change:+,.0f} [{low:+,.0f}, {high:+,.0f}]"
    )
