"""Which entity stays when two become one, which pairs may, and what happens to their edges. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from uuid import UUID


class Refusal(StrEnum):
    """Why a pair is left as it is."""

    GONE = "gone"
    DECIDED = "decided"
    ONE_ALREADY = "one_already"
    DIFFERENT = "different"
    TAKEN_APART = "taken_apart"


@dataclass(frozen=True, slots=True)
class Weight:
    """What decides which of two entities stays: mentions, with those of its tombstones, and its name."""

    mentions: int
    name: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entities that somebody says are one, under the number of the proposal."""

    number: int
    low: UUID
    high: UUID


@dataclass(frozen=True, slots=True)
class Step:
    """One merge: `loser` becomes a tombstone of `winner`, and neither is one before."""

    number: int
    winner: UUID
    loser: UUID


@dataclass(frozen=True, slots=True)
class Edge:
    """A relationship as it is stored."""

    id: int
    source: UUID
    target: UUID
    type: str
    chunk: int
    document: UUID
    start: int
    quote: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Moves:
    """What a merge does to edges: which get another source or target, and which go."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    dropped: tuple[Edge, ...]


def stays(one: UUID, other: UUID, weights: Mapping[UUID, Weight]) -> UUID:
    """Return the one that stays: more mentions, then the longer name, then the lesser id."""
    return min(one, other, key=lambda each: (-weights[each].mentions, -len(weights[each].name), each))


class Joining:
    """Pairs joined one after the other, each looked at as it stands after those before it.

    `canonical` says what each entity belongs to, `different` which pairs somebody said are never one.
    """

    def __init__(
        self,
        canonical: Mapping[UUID, UUID],
        weights: Mapping[UUID, Weight],
        different: Iterable[tuple[UUID, UUID]],
    ) -> None:
        self._canonical = dict(canonical)
        self._members: dict[UUID, list[UUID]] = {}
        for entity, belongs in canonical.items():
            self._members.setdefault(belongs, []).append(entity)
        self._weights = dict(weights)
        self._different: dict[UUID, set[UUID]] = {}
        for one, other in different:
            self._tell_apart(self._canonical[one], self._canonical[other])

    def join(self, pair: Pair, *, keep: UUID | None = None) -> Step | Refusal:
        """Return the merge that makes the pair one, or why there is none. `keep` names which side stays."""
        if pair.low not in self._canonical or pair.high not in self._canonical:
            return Refusal.GONE
        sides = self._canonical[pair.low], self._canonical[pair.high]
        if sides[0] == sides[1]:
            return Refusal.ONE_ALREADY
        if sides[1] in self._different.get(sides[0], ()):
            return Refusal.DIFFERENT
        kept = None if keep is None else self._canonical.get(keep)
        winner = kept if kept in sides else stays(*sides, self._weights)
        loser = sides[1] if winner == sides[0] else sides[0]
        self._become_one(winner, loser)
        return Step(pair.number, winner, loser)

    def _become_one(self, winner: UUID, loser: UUID) -> None:
        moved = self._members.pop(loser, [])
        self._canonical.update(dict.fromkeys(moved, winner))
        self._members.setdefault(winner, []).extend(moved)
        added = self._weights[loser].mentions
        held = self._weights[winner]
        self._weights[winner] = replace(held, mentions=held.mentions + added)
        for other in self._different.pop(loser, set()):
            self._different[other].discard(loser)
            self._tell_apart(winner, other)

    def _tell_apart(self, one: UUID, other: UUID) -> None:
        self._different.setdefault(one, set()).add(other)
        self._different.setdefault(other, set()).add(one)


def moves(edges: Iterable[Edge], *, winner: UUID, loser: UUID) -> Moves:
    """Say how the edges of `loser` become those of `winner`.

    Edges between the two go. Of an edge that both have in a passage the surer stays, then the one whose
    quote comes first: what storing keeps, whatever the order.
    """
    dropped: list[Edge] = []
    best: dict[tuple[UUID, UUID, str, int], Edge] = {}
    for edge in sorted(edges, key=_rank):
        source, target = (winner if end == loser else end for end in (edge.source, edge.target))
        place = (source, target, edge.type, edge.chunk)
        if source == target or place in best:
            dropped.append(edge)
        else:
            best[place] = edge
    kept = sorted(best.values(), key=lambda edge: edge.id)
    return Moves(
        tuple(edge.id for edge in kept if edge.source == loser),
        tuple(edge.id for edge in kept if edge.target == loser),
        tuple(sorted(dropped, key=lambda edge: edge.id)),
    )


def extent(body: str, start: int, quote: str) -> int | None:
    """Return how many characters of `body` from `start` say `quote`, however they are spaced; else None."""
    pattern = r"\s+".join(map(re.escape, quote.split()))
    found = re.compile(pattern).match(body, start) if pattern else None
    return None if found is None else found.end() - start


def quoted(body: str, start: int, length: int) -> str:
    """Return the words of that place, as a quote is stored."""
    return " ".join(body[start : start + length].split())


def ends(edges: Sequence[Edge]) -> list[UUID]:
    """Return the entities that `edges` join, in a steady order."""
    return sorted({end for edge in edges for end in (edge.source, edge.target)})


def _rank(edge: Edge) -> tuple[float, int, str, int]:
    return (-edge.confidence, edge.start, edge.quote, edge.id)
