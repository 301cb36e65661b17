"""What a paired difference is worth. Pure, and the same each time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 2_000
SEED = 20_261_130
CONFIDENCE = 0.95
# Below that not even a change of every question would be significant: 2 / 2**5 is more than 0.05.
FEWEST = 6
# With so many pairs or fewer every assignment of signs is tried, with more 10,000 drawn ones.
_EXACT = 13
_DRAWN = 10_000
# Sums of the same numbers in another order differ by so much.
_ROUNDING = 1e-12

TOO_FEW = "too few questions"


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the mean lies, with the confidence of this module."""

    low: float
    high: float

    def as_list(self) -> list[float]:
        """Return both ends as JSON values."""
        return [self.low, self.high]


@dataclass(frozen=True, slots=True)
class Difference:
    """A paired difference of means. Without interval and p the questions are too few to say."""

    questions: int
    delta: float | None
    interval: Interval | None = None
    p: float | None = None

    @property
    def word(self) -> str:
        """Say what the difference is worth."""
        if self.delta is None:
            return "undefined"
        if self.p is None:
            return TOO_FEW
        if self.p > 1 - CONFIDENCE:
            return "no difference shown"
        return "better" if self.delta > 0 else "worse"

    def as_dict(self) -> dict[str, object]:
        """Return JSON values; what cannot be said is a word and never a number."""
        return {
            "questions": self.questions,
            "delta": "undefined" if self.delta is None else self.delta,
            "interval": TOO_FEW if self.interval is None else self.interval.as_list(),
            "p": TOO_FEW if self.p is None else self.p,
            "word": self.word,
        }


def difference(before: Sequence[float], after: Sequence[float]) -> Difference:
    """Compare numbers about the same questions in the same order: `after` minus `before`."""
    if len(before) != len(after):
        raise ValueError("a paired comparison needs the same questions on both sides")
    deltas = np.asarray(after, dtype=float) - np.asarray(before, dtype=float)
    if not len(deltas):
        return Difference(0, None)
    delta = float(deltas.mean())
    if len(deltas) < FEWEST:
        return Difference(len(deltas), delta)
    return Difference(len(deltas), delta, bootstrap(deltas), randomisation(deltas))


def bootstrap(values: Sequence[float] | np.ndarray, *, seed: int = SEED) -> Interval:
    """Return the percentile bootstrap interval of the mean, of 2,000 resamples."""
    data = np.asarray(values, dtype=float)
    drawn = np.random.default_rng(seed).integers(0, len(data), (RESAMPLES, len(data)))
    low, high = np.quantile(data[drawn].mean(axis=1), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(float(low), float(high))


def change_of_medians(
    before: Sequence[float], after: Sequence[float], *, seed: int = SEED
) -> tuple[float, Interval | None]:
    """Return by how much the median changed, and the interval of that; None where the pairs are too few.

    Pairs are drawn together: the same questions stand on both sides of every resample.
    """
    pairs = np.column_stack([np.asarray(before, dtype=float), np.asarray(after, dtype=float)])
    change = float(np.median(pairs[:, 1]) - np.median(pairs[:, 0]))
    if len(pairs) < FEWEST:
        return change, None
    drawn = np.random.default_rng(seed).integers(0, len(pairs), (RESAMPLES, len(pairs)))
    medians = np.median(pairs[drawn], axis=1)
    ends = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    low, high = np.quantile(medians[:, 1] - medians[:, 0], ends)
    return change, Interval(float(low), float(high))


def randomisation(deltas: Sequence[float] | np.ndarray, *, seed: int = SEED) -> float:
    """Return the two-sided p of the paired randomisation test: how often chance alone does as much.

    Under the null hypothesis each question's difference might as well have the other sign. Drawn
    assignments count the observed one too, so that p is never 0.
    """
    data = np.asarray(deltas, dtype=float)
    observed = abs(data.sum()) - _ROUNDING
    if len(data) <= _EXACT:
        bits = np.arange(2 ** len(data))[:, None] >> np.arange(len(data)) & 1
        return float((np.abs((1 - 2 * bits) @ data) >= observed).mean())
    signs = np.random.default_rng(seed).choice(np.array([-1.0, 1.0]), size=(_DRAWN, len(data)))
    return float((1 + (np.abs(signs @ data) >= observed).sum()) / (1 + _DRAWN))
