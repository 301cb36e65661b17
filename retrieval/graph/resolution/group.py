"""The entities of one type, indexed by what resolution asks for. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from retrieval.graph.resolution.spelling import Words, form_of, joined, words_of
from retrieval.graph.resolution.types import Method, Named, Pair

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """An entity with its words, their form, and the forms of its other spellings, each with one spelling."""

    entity: Named
    words: Words
    form: str
    aliases: Mapping[str, str]

    @property
    def spellings(self) -> list[str]:
        """Every spelling, in order."""
        return sorted({self.entity.name, *self.entity.spellings})


class Group:
    """Entities of one type, in order of id, so that whatever order they came in changes nothing."""

    def __init__(self, entities: Iterable[Named]) -> None:
        self.entries = [_entry(entity) for entity in sorted(entities, key=lambda entity: entity.id)]
        self.by_form = index((entry.form, entry) for entry in self.entries if entry.form)
        self.by_alias = index((form, entry) for entry in self.entries for form in entry.aliases)


def groups(entities: Iterable[Named]) -> list[Group]:
    """Return the entities type by type: another type is another entity."""
    by_type: dict[str, list[Named]] = defaultdict(list)
    for entity in entities:
        by_type[entity.type].append(entity)
    return [Group(by_type[name]) for name in sorted(by_type)]


def index(items: Iterable[tuple[Key, Entry]]) -> dict[Key, list[Entry]]:
    """Return entries by key, in the order in which they come."""
    found: dict[Key, list[Entry]] = defaultdict(list)
    for key, entry in items:
        found[key].append(entry)
    return dict(found)


def every_two(entries: Sequence[Entry]) -> Iterator[tuple[Entry, Entry]]:
    """Yield every two of a few entries, but for the senses of one name, which a person has split."""
    return (pair for pair in combinations(entries, 2) if pair[0].entity.key != pair[1].entity.key)


def pair_of(one: Entry, other: Entry, *, tier: int, method: Method, confidence: float) -> Pair:
    """Return the pair of two entries, the lesser id first."""
    low, high = sorted((one.entity.id, other.entity.id))
    return Pair(low, high, tier, method, round(confidence, 4))


def _entry(entity: Named) -> Entry:
    words = words_of(entity.name)
    form = joined(words)
    aliases = {form_of(spelling): spelling for spelling in sorted(entity.spellings)}
    return Entry(entity, words, form, {each: aliases[each] for each in aliases if each not in ("", form)})
