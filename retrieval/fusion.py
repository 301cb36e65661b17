"""From the lists of several layers to one, with exact ties: by ranks, or by scores to compare with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from retrieval.types import RankedList

K = 60
Fusion = Literal["ranks", "scores"]
RANKS: Fusion = "ranks"
SCORES: Fusion = "scores"
# What the two layers with scores count in fusion by scores.
SHARES = {"vector": Fraction(7, 10), "keyword": Fraction(3, 10)}

# Where a passage stands in the corpus, the same after a re-ingest: document hash and ordinal.
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Fused:
    """One candidate with its score, kept exact, and its rank in each layer that found it."""

    chunk_id: int
    score: Fraction
    ranks: dict[str, int]
    place: Place

    def order(self) -> tuple[Fraction, int, int, Place]:
        """Return the sort key: score, then more layers, then the better single rank, then the place."""
        return -self.score, -len(self.ranks), min(self.ranks.values()), self.place


def fuse(
    lists: Sequence[RankedList],
    *,
    weights: Mapping[str, Fraction],
    places: Mapping[int, Place],
    k: int = K,
) -> list[Fused]:
    """Return the candidates of all layers that have a place, best first.

    Ranks, not scores: a cosine distance and a keyword score do not compare. Fractions, because the same
    sum reached over two routes differs in floats. A layer pays a candidate once, at its best rank, and
    a candidate without a place (no longer there, or not allowed) leaves everybody else's rank alone.
    """
    ranks = _ranks(lists, places)
    scores = {
        key: sum((weights[layer] / (k + rank) for layer, rank in found.items()), Fraction())
        for key, found in ranks.items()
    }
    return _ordered(ranks, scores, places)


def fuse_scores(
    lists: Sequence[RankedList],
    *,
    places: Mapping[int, Place],
    shares: Mapping[str, Fraction] = SHARES,
) -> list[Fused]:
    """Return the same candidates by the convex combination of scores brought to 0..1 by least and greatest.

    (Bruch, Gai, Ingber 2023, "An Analysis of Fusion Functions for Hybrid Retrieval".) Layers without scores
    add nothing: what only they found comes last, by layers and rank. It is here to be compared with.
    """
    scores: dict[int, Fraction] = {}
    for ranked in lists:
        share = shares.get(ranked.layer)
        if share is None:
            continue
        held = {
            key: Fraction(score)
            for key, score in reversed(tuple(zip(ranked.chunk_ids, ranked.scores, strict=True)))
            if key in places
        }
        for key, score in _between_none_and_all(held).items():
            scores[key] = scores.get(key, Fraction()) + share * score
    return _ordered(_ranks(lists, places), scores, places)


def _between_none_and_all(scores: Mapping[int, Fraction]) -> dict[int, Fraction]:
    if not scores:
        return {}
    least, greatest = min(scores.values()), max(scores.values())
    if least == greatest:
        return dict.fromkeys(scores, Fraction(1))
    return {key: (score - least) / (greatest - least) for key, score in scores.items()}


def _ranks(lists: Sequence[RankedList], places: Mapping[int, Place]) -> dict[int, dict[str, int]]:
    ranks: dict[int, dict[str, int]] = {}
    for ranked in lists:
        for rank, chunk_id in enumerate(ranked.chunk_ids, start=1):
            if chunk_id in places:
                ranks.setdefault(chunk_id, {}).setdefault(ranked.layer, rank)
    return ranks


def _ordered(
    ranks: Mapping[int, dict[str, int]], scores: Mapping[int, Fraction], places: Mapping[int, Place]
) -> list[Fused]:
    fused = [
        Fused(chunk_id=key, score=scores.get(key, Fraction()), ranks=found, place=places[key])
        for key, found in ranks.items()
    ]
    return sorted(fused, key=Fused.order)
