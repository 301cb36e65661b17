"""Measures of one ranking against what is relevant, as an IR library computes them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2

# How far a ranking is read for all measures.
DEPTH = 20


@dataclass(frozen=True, slots=True)
class Measure:
    """A number between 0 and 1 that says how good a ranking is. `label` is for people."""

    name: str
    label: str
    about: str


MEASURES = (
    Measure("hit@5", "hit@5", "share of questions with something relevant among the first five"),
    Measure("hit@10", "hit@10", "share of questions with something relevant among the first ten"),
    Measure("mrr", "MRR", "mean of one over the rank of the first relevant one, of twenty"),
    Measure("ndcg@10", "nDCG@10", "discounted gain of the first ten over that of the best order"),
    Measure("recall@20", "recall@20", "share of what is relevant among the first twenty"),
)
NAMES = tuple(measure.name for measure in MEASURES)


def hit(relevant: Sequence[bool], depth: int) -> float:
    """Return 1 when something relevant stands among the first `depth`, else 0."""
    return float(any(relevant[:depth]))


def reciprocal_rank(relevant: Sequence[bool]) -> float:
    """Return one over the rank of the first relevant one, 0 without any."""
    return next((1 / rank for rank, is_relevant in enumerate(relevant, start=1) if is_relevant), 0.0)


def recall(relevant: Sequence[bool], total: int, depth: int) -> float:
    """Return the share of the `total` relevant ones that stand among the first `depth`."""
    return sum(relevant[:depth]) / total if total else 0.0


def ndcg(gains: Sequence[float], ideal: Sequence[float], depth: int) -> float:
    """Return the discounted gain at `depth` over that of `ideal`, the gains there are, best first."""
    best = _discounted(sorted(ideal, reverse=True)[:depth])
    return _discounted(gains[:depth]) / best if best else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def measures(relevant: Sequence[bool], total: int) -> dict[str, float]:
    """Return every measure of one ranking; all are 0 where nothing relevant exists to be found."""
    return {
        "hit@5": hit(relevant, 5),
        "hit@10": hit(relevant, 10),
        "mrr": reciprocal_rank(relevant[:DEPTH]),
        "ndcg@10": ndcg([float(one) for one in relevant], [1.0] * total, 10),
        "recall@20": recall(relevant, total, DEPTH),
    }


def mean(values: Sequence[float]) -> float | None:
    """Return the mean; None, which is said as "undefined", of no values."""
    return sum(values) / len(values) if values else None


def means(rows: Sequence[Mapping[str, float]]) -> dict[str, float | None]:
    """Return the mean of every measure over questions."""
    return {name: mean([row[name] for row in rows]) for name in NAMES}
