"""Measures of ranked lists against judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2


def ndcg(ranked: Sequence[str], judged: Mapping[str, int], *, depth: int = 10) -> float:
    """Return nDCG at `depth` with linear gains, as trec_eval computes it."""
    ideal = sum(
        gain / log2(place + 2) for place, gain in enumerate(sorted(judged.values(), reverse=True)[:depth])
    )
    found = sum(judged.get(name, 0) / log2(place + 2) for place, name in enumerate(ranked[:depth]))
    return found / ideal if ideal else 0.0


def recall(ranked: Sequence[object], true: Sequence[object]) -> float:
    """Return how much of `true` is in `ranked`."""
    return len(set(ranked) & set(true)) / len(set(true)) if true else 1.0
