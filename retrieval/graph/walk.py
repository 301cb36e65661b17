"""What a question may name, and in which order the passages of a walk through the graph come. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from retrieval.graph.naming import key_of

HOPS = 2
LONGEST_GRAM = 6
MOST_GRAMS = 400
_WORD = re.compile(r"\S+")
# A word of these alone names nothing, though a name may hold them.
_SMALL_WORDS = frozenset(
    "a an and are as at be by did do does for from had has have how in is it its of on or that the their "
    "this to was were what when where which who why will with not no der die das den dem des ein eine einer "
    "und oder ist sind war wie wer wo warum welche welcher welches von vom zu zum zur im mit auf für "
    "nicht".split()
)

# An edge as the database gives it: both ends, and how sure.
Edge = tuple[UUID, UUID, float]


@dataclass(frozen=True, slots=True)
class Reached:
    """An entity of the walk: how many edges from the question, and how strong the best way there is.

    The strength of a way is the confidence of its weakest edge.
    """

    hops: int
    strength: float


def grams(question: str) -> list[str]:
    """Return the runs of up to `LONGEST_GRAM` words of `question` as names are compared, longest first."""
    words = _WORD.findall(question)
    found: dict[str, None] = {}
    for size in range(min(LONGEST_GRAM, len(words)), 0, -1):
        for start in range(len(words) - size + 1):
            key = key_of(" ".join(words[start : start + size]).strip("?!()[]{}"))
            if len(key) > 1 and key not in _SMALL_WORDS:
                found.setdefault(key)
    return list(found)[:MOST_GRAMS]


def uncovered(keys: Sequence[str], matched: Iterable[str]) -> list[str]:
    """Return those of `keys` that stand in no name of `matched` and hold none: what may be misspelt."""
    names = [f" {name} " for name in matched]
    return [key for key in keys if not any(f" {key} " in name or name in f" {key} " for name in names)]


def step(reached: Mapping[UUID, Reached], edges: Iterable[Edge], *, hops: int) -> dict[UUID, Reached]:
    """Return `reached` with the entities that `edges` lead to at distance `hops`, by its strongest way."""
    after = dict(reached)
    for one, other, confidence in edges:
        for start, end in ((one, other), (other, one)):
            if start not in reached or reached[start].hops != hops - 1:
                continue
            strength = min(reached[start].strength, confidence)
            known = after.get(end)
            if known is None or (known.hops == hops and known.strength < strength):
                after[end] = Reached(hops, strength)
    return after


def order(
    reached: Mapping[UUID, Reached],
    mentions: Iterable[tuple[int, int, UUID]],
    *,
    limit: int,
    by_strength: bool,
) -> tuple[int, ...]:
    """Return the passages that mention reached entities, nearest first, from rows (chunk, rank key, entity).

    A passage is as far from the question as the nearest entity it mentions; at equal distance the one that
    ties more entities together goes first, then the rank key. With `by_strength` the strongest way to any of
    its entities comes before all of that. Passages about what the question names itself are found by every
    layer: each distance gets an equal share of `limit`, so that they leave room for those only a walk finds.
    """
    entities: dict[int, set[UUID]] = defaultdict(set)
    keys: dict[int, int] = {}
    for chunk, rank_key, entity in mentions:
        entities[chunk].add(entity)
        keys[chunk] = rank_key

    def hops(chunk: int) -> int:
        return min(reached[entity].hops for entity in entities[chunk])

    def place(chunk: int) -> tuple[float, int, int, int, int]:
        strongest = max(reached[entity].strength for entity in entities[chunk]) if by_strength else 0.0
        return -strongest, hops(chunk), -len(entities[chunk]), keys[chunk], chunk

    ordered = sorted(entities, key=place)
    levels: dict[int, list[int]] = defaultdict(list)
    for chunk in ordered:
        levels[hops(chunk)].append(chunk)
    kept = set(_shared(levels, limit))
    return tuple(chunk for chunk in ordered if chunk in kept)


def _shared(levels: Mapping[int, Sequence[int]], limit: int) -> list[int]:
    """Give each distance an equal share of `limit`, and what one leaves over to the nearest that wants it."""
    kept: list[int] = []
    rest: list[int] = []
    for number, level in enumerate(sorted(levels)):
        share = (limit - len(kept)) // (len(levels) - number)
        kept += levels[level][:share]
        rest += levels[level][share:]
    return kept + rest[: limit - len(kept)]
