"""Weighted reciprocal rank fusion with exact ties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from retrieval.types import RankedList

K = 60

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
    ranks: dict[int, dict[str, int]] = {}
    for ranked in lists:
        for rank, chunk_id in enumerate(ranked.chunk_ids, start=1):
            if chunk_id in places:
                ranks.setdefault(chunk_id, {}).setdefault(ranked.layer, rank)
    fused = [
        Fused(
            chunk_id=chunk_id,
            score=sum((weights[layer] / (k + rank) for layer, rank in found.items()), Fraction()),
            ranks=found,
            place=places[chunk_id],
        )
        for chunk_id, found in ranks.items()
    ]
    return sorted(fused, key=Fused.order)
