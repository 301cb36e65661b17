"""How well two raters agree beyond chance. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from evaluation.metrics.significance import CONFIDENCE, RESAMPLES, SEED, Interval

# With fewer labels the value jumps with each of them.
STABLE_FROM = 30
UNDEFINED, UNSTABLE = "undefined", "unstable"
# Landis and Koch (1977): the word for a kappa up to and including the number.
_WORDS = (
    (0.20, "slight"), (0.40, "fair"), (0.60, "moderate"), (0.80, "substantial"), (1.00, "almost perfect"),
)  # fmt: skip


class Weights(StrEnum):
    """How much a disagreement counts: all the same, by its distance, or by that squared."""

    NONE = "none"
    LINEAR = "linear"
    QUADRATIC = "quadratic"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two raters over the same items. A kappa of None is undefined and is said so, never as a number."""

    labels: int
    exact: float | None
    kappa: float | None
    quadratic: float | None
    interval: Interval | None
    matrix: tuple[tuple[int, ...], ...]

    @property
    def is_stable(self) -> bool:
        """Whether there are enough labels to rest anything on the value."""
        return self.labels >= STABLE_FROM

    @property
    def word(self) -> str:
        """Say it as Landis and Koch do, and when it is not to be relied on."""
        if self.kappa is None:
            return UNDEFINED
        return landis_koch(self.kappa) if self.is_stable else f"{landis_koch(self.kappa)}, {UNSTABLE}"

    def as_dict(self) -> dict[str, object]:
        """Return JSON values; what is undefined is a word."""
        return {
            "labels": self.labels,
            "exact": UNDEFINED if self.exact is None else self.exact,
            "kappa": UNDEFINED if self.kappa is None else self.kappa,
            "kappa_quadratic": UNDEFINED if self.quadratic is None else self.quadratic,
            "interval": UNDEFINED if self.interval is None else self.interval.as_list(),
            "stable": self.is_stable,
            "word": self.word,
            "matrix": [list(row) for row in self.matrix],
        }


def agreement(first: Sequence[int], second: Sequence[int], *, grades: Sequence[int]) -> Agreement:
    """Compare two raters who gave one of `grades` to the same items in the same order."""
    matrix = confusion(first, second, grades=grades)
    total = int(matrix.sum())
    return Agreement(
        labels=total,
        exact=float(np.trace(matrix) / total) if total else None,
        kappa=kappa(matrix),
        quadratic=kappa(matrix, Weights.QUADRATIC),
        interval=kappa_interval(first, second, grades=grades),
        matrix=tuple(tuple(int(count) for count in row) for row in matrix),
    )


def confusion(first: Sequence[int], second: Sequence[int], *, grades: Sequence[int]) -> np.ndarray:
    """Return how often the first rater gave the row's grade where the second gave the column's."""
    if len(first) != len(second):
        raise ValueError("both raters have to have labelled the same items")
    place = {grade: index for index, grade in enumerate(grades)}
    matrix = np.zeros((len(grades), len(grades)), dtype=int)
    for one, other in zip(first, second, strict=True):
        matrix[place[one], place[other]] += 1
    return matrix


def kappa(matrix: np.ndarray, weights: Weights = Weights.NONE) -> float | None:
    """Return Cohen's kappa; None when a rater gave one grade only: chance then explains everything."""
    if _is_constant(matrix):
        return None
    expected = np.outer(matrix.sum(axis=1), matrix.sum(axis=0)) / matrix.sum()
    disagreement = _disagreement(len(matrix), weights)
    return float(1 - (disagreement * matrix).sum() / (disagreement * expected).sum())


def kappa_interval(first: Sequence[int], second: Sequence[int], *, grades: Sequence[int]) -> Interval | None:
    """Return the percentile bootstrap interval of kappa; None when it is undefined.

    Resamples in which kappa is undefined say nothing and are left out; when they are the more, so is the
    interval.
    """
    if kappa(confusion(first, second, grades=grades)) is None:
        return None
    pairs = np.array([first, second])
    generator = np.random.default_rng(SEED)
    values = []
    for _ in range(RESAMPLES):
        one, other = pairs[:, generator.integers(0, pairs.shape[1], pairs.shape[1])].tolist()
        value = kappa(confusion(one, other, grades=grades))
        if value is not None:
            values.append(value)
    if len(values) * 2 < RESAMPLES:
        return None
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(float(low), float(high))


def landis_koch(value: float) -> str:
    """Return the word of Landis and Koch for a kappa."""
    if value < 0:
        return "poor"
    return next(word for bound, word in _WORDS if value <= bound or word == _WORDS[-1][1])


def _is_constant(matrix: np.ndarray) -> bool:
    return bool((matrix.sum(axis=1) > 0).sum() < 2 or (matrix.sum(axis=0) > 0).sum() < 2)


def _disagreement(grades: int, weights: Weights) -> np.ndarray:
    distance = np.abs(np.subtract.outer(np.arange(grades), np.arange(grades)))
    if weights == Weights.NONE:
        return (distance > 0).astype(float)
    return distance.astype(float) ** (1 if weights == Weights.LINEAR else 2)
