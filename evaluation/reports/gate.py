"""The gate: whether a run is good enough, and not worse than the baseline. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.reports.comparison import Comparison, Report, compare

# What a mean may lose to the baseline without the build being called worse.
TOLERANCE = 0.01


@dataclass(frozen=True, slots=True)
class Threshold:
    """The least that a measure on a level may be."""

    level: str
    measure: str
    least: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate found. It passes when nothing was missed."""

    missed: tuple[str, ...]
    comparison: Comparison | None

    @property
    def passes(self) -> bool:
        """Whether the build may go on."""
        return not self.missed

    def as_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        compared = None if self.comparison is None else self.comparison.as_dict()
        return {"passes": self.passes, "missed": list(self.missed), "comparison": compared}


def judge(
    report: Report,
    *,
    baseline: Report | None,
    thresholds: tuple[Threshold, ...] = (),
    tolerance: float = TOLERANCE,
) -> Verdict:
    """Hold a report against thresholds and the baseline; another corpus is what builds make, and is noted.

    Raises `Incomparable` where kind, questions or judge are not the baseline's. A measure that the run does
    not have is missed.
    """
    missed = [said for one in thresholds if (said := _below(report, one))]
    comparison = None
    if baseline is not None:
        comparison = compare(baseline, report, allows_other_corpus=True)
        missed += [
            f"{one.level} {one.measure} fell from {one.before:.4f} to {one.after:.4f}"
            for one in comparison.measures
            if one.before is not None and one.after is not None and one.after < one.before - tolerance
        ]
    return Verdict(tuple(missed), comparison)


def _below(report: Report, threshold: Threshold) -> str:
    first: Mapping[str, Any] = report["numbers"]["configurations"][0]
    numbers = first.get("levels", {}).get(threshold.level, {}).get(threshold.measure, {})
    value = numbers.get("mean", "undefined")
    name = f"{threshold.level} {threshold.measure}"
    if not isinstance(value, float | int):
        return f"{name} is undefined; at least {threshold.least:g} is wanted"
    return (
        "" if value >= threshold.least else f"{name} is {value:.4f}; at least {threshold.least:g} is wanted"
    )
