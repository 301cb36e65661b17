"""Which entities hang together: label propagation that hubs cannot flood. Pure.

Every entity begins with a label of its own and takes, as long as that is better, the label to which the
strongest edges lead. Edges to a label count for less the more edges that label has in the whole graph
(Barber and Clark 2009, "Detecting network communities by propagating labels under constraints"): whoever
stands beside a hub that everything stands beside stays with its own. Weights are whole numbers, entities are
looked at in the order of their names and a draw goes to the label that is first by name, so that the groups
depend on the edges alone: neither on their order nor on ids of rows. A label's entities that do not hang
together without others are groups of their own.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

# Counts up with every change of what comes out.
METHOD: Final = "label propagation under modularity 1"

LEAST_MEMBERS: Final = 3
# With more groups than this a second level says which of them hang together.
MANY_GROUPS: Final = 12
# A bound on how often entities are looked at, far above what is needed: moves only ever improve.
_LOOKS_EACH = 50

# An entity by its type, key and sense: the same in every corpus and every order.
Name = tuple[str, str, int]
# Two entities and how strongly they are tied, in tenths of a direct statement.
Edge = tuple[Name, Name, int]

_Neighbours = list[list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Group:
    """Entities that hang together, in the order of their names. `parent` is the key of the group above."""

    level: int
    members: tuple[Name, ...]
    parent: str | None = None

    @property
    def key(self) -> str:
        """Return what names the group: its level and members, whatever corpus they were found in."""
        return hashlib.sha256(json.dumps([self.level, self.members], ensure_ascii=False).encode()).hexdigest()


def groups(edges: Iterable[Edge]) -> list[Group]:
    """Return the groups of at least `LEAST_MEMBERS` entities, level by level, in the order of their members.

    Edges between the same two entities add up; direction counts for nothing. When there are more than
    `MANY_GROUPS`, those that hang together are joined into groups of level 1, their parents.
    """
    weights = _summed(edges)
    names = sorted({name for pair in weights for name in pair})
    places = {name: place for place, name in enumerate(names)}
    neighbours = _neighbours(
        len(names), {(places[one], places[other]): w for (one, other), w in weights.items()}
    )
    degrees = [sum(weight for _, weight in each) for each in neighbours]
    found = [group for group in _found(neighbours, degrees) if len(group) >= LEAST_MEMBERS]
    fine = [Group(0, tuple(names[place] for place in group)) for group in found]
    return _with_parents(fine, _above(found, neighbours, degrees)) if len(found) > MANY_GROUPS else fine


def _summed(edges: Iterable[Edge]) -> dict[tuple[Name, Name], int]:
    weights: dict[tuple[Name, Name], int] = defaultdict(int)
    for one, other, weight in edges:
        if one != other:
            weights[(one, other) if one < other else (other, one)] += weight
    return weights


def _neighbours(count: int, weights: Mapping[tuple[int, int], int]) -> _Neighbours:
    neighbours: _Neighbours = [[] for _ in range(count)]
    for (one, other), weight in weights.items():
        neighbours[one].append((other, weight))
        neighbours[other].append((one, weight))
    for each in neighbours:
        each.sort()
    return neighbours


def _found(neighbours: _Neighbours, degrees: Sequence[int]) -> list[list[int]]:
    """Return the groups as ascending places, those with the first place first."""
    labels = _propagated(neighbours, degrees)
    seen = bytearray(len(labels))
    found: list[list[int]] = []
    for start, label in enumerate(labels):
        if seen[start]:
            continue
        seen[start] = 1
        group = [start]
        for place in group:
            for other, _ in neighbours[place]:
                if not seen[other] and labels[other] == label:
                    seen[other] = 1
                    group.append(other)
        found.append(sorted(group))
    return found


def _propagated(neighbours: _Neighbours, degrees: Sequence[int]) -> list[int]:
    """Return the label of each place. A place is looked at again when one beside it moved."""
    labels = list(range(len(neighbours)))
    masses = list(degrees)
    whole = sum(degrees)
    waiting = deque(labels)
    waits = bytearray(b"\x01") * len(labels)
    for _ in range(_LOOKS_EACH * len(labels)):
        if not waiting:
            break
        place = waiting.popleft()
        waits[place] = 0
        own, degree = labels[place], degrees[place]
        masses[own] -= degree
        best = _best(_ties(neighbours[place], labels), own, degree, masses, whole)
        masses[best] += degree
        if best != own:
            labels[place] = best
            for other, _ in neighbours[place]:
                if not waits[other] and labels[other] != best:
                    waits[other] = 1
                    waiting.append(other)
    return labels


def _ties(neighbours: Sequence[tuple[int, int]], labels: Sequence[int]) -> dict[int, int]:
    ties: dict[int, int] = {}
    for other, weight in neighbours:
        label = labels[other]
        ties[label] = ties.get(label, 0) + weight
    return ties


def _best(ties: Mapping[int, int], own: int, degree: int, masses: Sequence[int], whole: int) -> int:
    """Return the label to which the ties are strongest beyond what its size alone would bring."""
    best, most = own, whole * ties.get(own, 0) - degree * masses[own]
    is_own = True
    for label, tie in ties.items():
        gain = whole * tie - degree * masses[label]
        if gain > most or (gain == most and not is_own and label < best):
            best, most, is_own = label, gain, False
    return best


def _above(
    found: Sequence[Sequence[int]], neighbours: _Neighbours, degrees: Sequence[int]
) -> list[list[int]]:
    """Return which groups hang together; those that stand alone left out.

    A group weighs all its edges, those within it too: two belong together when more ties them than their
    sizes bring, which keeps everything from flowing into one.
    """
    home = {place: number for number, group in enumerate(found) for place in group}
    weights: dict[tuple[int, int], int] = defaultdict(int)
    for place, number in home.items():
        for other, weight in neighbours[place]:
            there = home.get(other, number)
            if number < there:
                weights[number, there] += weight
    masses = [sum(degrees[place] for place in group) for group in found]
    joined = _found(_neighbours(len(found), weights), masses)
    return [group for group in joined if len(group) > 1]


def _with_parents(fine: Sequence[Group], joined: Sequence[Sequence[int]]) -> list[Group]:
    placed = list(fine)
    parents: list[Group] = []
    for numbers in joined:
        members = sorted(name for number in numbers for name in fine[number].members)
        parent = Group(1, tuple(members))
        parents.append(parent)
        for number in numbers:
            placed[number] = replace(placed[number], parent=parent.key)
    return [*placed, *sorted(parents, key=lambda group: group.members)]
