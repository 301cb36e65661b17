"""What a community is to be summarised from: its strongest members and edges, as its documents put them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol
from uuid import UUID

from corpus.normalise import matching_form, one_line
from retrieval.graph.communities.clustering import Group, Name, groups
from retrieval.graph.communities.reading import Spelling, Tie

Pair = tuple[UUID, UUID]

_MOST_NAMES: Final = 8
_MOST_QUOTES: Final = 20
_MOST_CHARACTERS: Final = 6_000
_NAMES_OF_TITLE: Final = 3
_LONGEST_NAME: Final = 90


@dataclass(frozen=True, slots=True)
class Draft:
    """A community without its summary. Names and quotes are its documents' own words, strongest first."""

    level: int
    key: str
    parent: str | None
    members: tuple[UUID, ...]
    documents: tuple[UUID, ...]
    names: tuple[str, ...]
    quotes: tuple[str, ...]

    @property
    def title(self) -> str:
        """Return the names of the strongest members."""
        return ", ".join(_cut(name) for name in self.names[:_NAMES_OF_TITLE])

    def evidence(self, basis: str) -> str:
        """Return the hash of what a summary is written from, and in which way."""
        return hashlib.sha256(
            json.dumps([basis, self.names, self.quotes], ensure_ascii=False).encode()
        ).hexdigest()


class Readable(Protocol):
    """A graph to read communities from."""

    def names(self) -> Mapping[UUID, Name]: ...

    def ties(self) -> Sequence[Tie]: ...

    def quotes(self, things: Sequence[UUID]) -> Mapping[Pair, Sequence[str]]: ...

    def spellings(self, things: Sequence[UUID]) -> Mapping[UUID, Sequence[Spelling]]: ...


@dataclass(slots=True)
class _Inside:
    """What lies within one group: how strongly each two of its members are tied, and by which documents."""

    group: Group
    weights: Counter[Pair] = field(default_factory=Counter)
    documents: set[UUID] = field(default_factory=set)

    def add(self, tie: Tie) -> None:
        """Count a tie between two members."""
        self.weights[tie.one, tie.other] += tie.tenths
        self.documents.add(tie.document)


def drafts(graph: Readable) -> list[Draft]:
    """Return the communities of `graph`, the coarse ones first."""
    names = graph.names()
    ties = [tie for tie in graph.ties() if tie.one in names and tie.other in names]
    found = groups((names[tie.one], names[tie.other], tie.tenths) for tie in ties)
    things = {name: thing for thing, name in names.items()}
    inside = _inside(found, things, ties)
    strongest = {each.group.key: _strongest(each, names) for each in inside}
    shown = {thing for members in strongest.values() for thing in members[:_MOST_NAMES]}
    spellings = graph.spellings(sorted(shown))
    quotes = graph.quotes(sorted({thing for each in inside for pair in each.weights for thing in pair}))
    return [
        Draft(
            level=each.group.level,
            key=each.group.key,
            parent=each.group.parent,
            members=tuple(things[name] for name in each.group.members),
            documents=tuple(sorted(each.documents)),
            names=tuple(_spelt(strongest[each.group.key], spellings, each.documents)),
            quotes=tuple(_quoted(_pairs(each.weights, names), quotes)),
        )
        for each in sorted(inside, key=lambda each: -each.group.level)
    ]


def _inside(found: Sequence[Group], things: Mapping[Name, UUID], ties: Iterable[Tie]) -> list[_Inside]:
    inside = [_Inside(group) for group in found]
    homes: dict[int, dict[UUID, _Inside]] = defaultdict(dict)
    for each in inside:
        for name in each.group.members:
            homes[each.group.level][things[name]] = each
    for tie in ties:
        for home in homes.values():
            here = home.get(tie.one)
            if here is not None and here is home.get(tie.other):
                here.add(tie)
    return inside


def _strongest(inside: _Inside, names: Mapping[UUID, Name]) -> list[UUID]:
    """Return the members, those with the strongest edges within the group first."""
    strength: Counter[UUID] = Counter()
    for (one, other), weight in inside.weights.items():
        strength[one] += weight
        strength[other] += weight
    return sorted(strength, key=lambda thing: (-strength[thing], names[thing]))


def _pairs(weights: Mapping[Pair, int], names: Mapping[UUID, Name]) -> list[Pair]:
    return sorted(weights, key=lambda pair: (-weights[pair], sorted(names[thing] for thing in pair)))


def _quoted(pairs: Sequence[Pair], quotes: Mapping[Pair, Sequence[str]]) -> list[str]:
    """Return the best quote of each two, then the second best of each, as many as there is room for.

    A sentence that says several things stands once.
    """
    depth = max((len(quotes[pair]) for pair in pairs), default=0)
    in_turn = (quotes[pair][nth] for nth in range(depth) for pair in pairs if nth < len(quotes[pair]))
    kept: list[str] = []
    said: set[str] = set()
    room = _MOST_CHARACTERS
    for quote in in_turn:
        text, form = one_line(quote), matching_form(quote)
        if form in said or (kept and len(text) > room):
            continue
        kept.append(text)
        said.add(form)
        room -= len(text)
        if len(kept) == _MOST_QUOTES or room <= 0:
            break
    return kept


def _spelt(
    things: Sequence[UUID], spellings: Mapping[UUID, Sequence[Spelling]], documents: set[UUID]
) -> Iterator[str]:
    """Yield how `documents` write the first of `things`: as most places do, a name before an alias."""
    for thing in things[:_MOST_NAMES]:
        counts: Counter[tuple[bool, str]] = Counter()
        for each in spellings.get(thing, ()):
            if each.document in documents:
                counts[each.is_name, each.surface] += each.count
        if counts:
            yield one_line(max(counts, key=lambda found: (found[0], counts[found], found[1]))[1])


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
