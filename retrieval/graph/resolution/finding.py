"""Which entities might be one: every rule over every type, the surest finding of each pair kept. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from retrieval.graph.resolution import naming_alike, neighbours
from retrieval.graph.resolution.blocks import blocked
from retrieval.graph.resolution.group import Entry, Group, groups, index, pair_of
from retrieval.graph.resolution.thesaurus import Thesaurus
from retrieval.graph.resolution.types import HIGH, REJECT, Method, Named, Pair

Rule = Callable[[Group, Thesaurus], Iterator[Pair]]
Advance = Callable[[int], None]


def by_likeness(group: Group, thesaurus: Thesaurus) -> Iterator[Pair]:
    """Yield pairs whose names differ in one word, and that word in little.

    As a slip of the pen in a long word does, tier 2; else a model has to say. Two names that differ in two
    words are hardly ever one thing, and one letter in a short word makes another one.
    """
    held = index((entry.words, entry) for entry in group.entries if entry.words)
    using = index((word, entry) for entry in group.entries for word in sorted(set(entry.words)))
    words = [word for word in using if word.isalpha()]
    for word, other, likeness in neighbours.alike(words, least=REJECT):
        is_sure = likeness >= HIGH and neighbours.is_slip(word, other)
        tier, method = (2, Method.SLIP) if is_sure else (3, Method.MODEL)
        for one in using[word]:
            for twin in held.get(tuple(other if each == word else each for each in one.words), []):
                if not _differ_in_meaning(one, twin, thesaurus):
                    yield pair_of(one, twin, tier=tier, method=method, confidence=likeness)


def _differ_in_meaning(one: Entry, other: Entry, thesaurus: Thesaurus) -> bool:
    return blocked(one.words, other.words) is not None or thesaurus.tells_apart(one.form, other.form)


RULES: Final[tuple[Rule, ...]] = (
    naming_alike.by_spelling,
    naming_alike.by_list,
    naming_alike.by_alias,
    naming_alike.by_inversion,
    naming_alike.by_short_form,
    naming_alike.by_genus,
    by_likeness,
)


def find(entities: Iterable[Named], thesaurus: Thesaurus, *, advance: Advance = lambda _: None) -> list[Pair]:
    """Return the pairs that might be one, the surest first; those of tier 3 are for a model to judge.

    Each pair is found by its own two names. That A is B and B is C says nothing of A and C here.
    """
    best: dict[tuple[object, object], Pair] = {}
    for group in groups(entities):
        for rule in RULES:
            for pair in rule(group, thesaurus):
                known = best.get(pair.ids)
                if known is None or pair.rank < known.rank:
                    best[pair.ids] = pair
        advance(len(group.entries))
    return sorted(best.values(), key=lambda pair: (pair.rank, pair.ids))
