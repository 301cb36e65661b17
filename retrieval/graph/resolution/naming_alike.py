"""Pairs whose names say that they are one: by spelling, alias, list, inversion, short form. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from retrieval.graph.resolution import short_forms
from retrieval.graph.resolution.blocks import blocked
from retrieval.graph.resolution.group import Entry, Group, every_two, index, pair_of
from retrieval.graph.resolution.spelling import joined
from retrieval.graph.resolution.thesaurus import CONFIDENCE, Thesaurus
from retrieval.graph.resolution.types import Method, Pair

# An alias of more entities than this says of none of them which it is.
_MOST_HOLDERS: Final = 3
# An alias of one word has to be this long to be taken by itself.
_LONGEST_SHORT: Final = 6
# Of a short form that a model is asked about: amid the names whose likeness leaves it open.
_ASKED: Final = 0.86


def by_spelling(group: Group, _: Thesaurus) -> Iterator[Pair]:
    """Yield pairs whose names have one form."""
    for entries in group.by_form.values():
        for one, other in every_two(entries):
            yield pair_of(one, other, tier=1, method=Method.SPELLING, confidence=0.99)


def by_list(group: Group, thesaurus: Thesaurus) -> Iterator[Pair]:
    """Yield pairs whose names stand on one line of a list: the ontology's examples are tier 1."""
    for listing in thesaurus.listings:
        tier = 1 if listing.method is Method.ONTOLOGY else 2
        listed = ((listing.line(entry.form), entry) for entry in group.entries)
        for line, entries in index(listed).items():
            if line is not None:
                for one, other in every_two(entries):
                    yield pair_of(
                        one, other, tier=tier, method=listing.method, confidence=CONFIDENCE[listing.method]
                    )


def by_alias(group: Group, thesaurus: Thesaurus) -> Iterator[Pair]:
    """Yield pairs that passages call by one name, where that name is not one of many."""
    for form, holders in group.by_alias.items():
        named = group.by_form.get(form, [])
        both = [*named, *(entry for entry in holders if entry not in named)]
        if len(both) > _MOST_HOLDERS:
            continue
        for one, other in every_two(both):
            if _may_share(form, one, other, both) and not thesaurus.tells_apart(one.form, other.form):
                tier = 1 if len(form) >= short_forms.SHORTEST else 2
                yield pair_of(one, other, tier=tier, method=Method.ALIAS, confidence=0.97)


def _may_share(form: str, one: Entry, other: Entry, holders: Sequence[Entry]) -> bool:
    """Whether an alias makes two entities one.

    A short one may mean several things: it has to be the name of one, abbreviate the other, and be nobody
    else's. A longer one does, unless the names themselves differ in what may not differ.
    """
    spelled = {entry.aliases.get(form, entry.entity.name) for entry in (one, other)}
    if len(form) <= _LONGEST_SHORT or any(map(short_forms.letters_of, spelled)):
        long = other if one.form == form else one
        return len(holders) == 2 and form in (one.form, other.form) and _abbreviates(spelled, long)
    return blocked(one.words, other.words) is None


def _abbreviates(shorts: set[str], long: Entry) -> bool:
    return any(
        short_forms.strays(short, spelling, shortest=short_forms.SHORTEST_ALIAS) is not None
        for short in sorted(shorts)
        for spelling in long.spellings
    )


def by_inversion(group: Group, thesaurus: Thesaurus) -> Iterator[Pair]:
    """Yield pairs such as "loss of weight" and "weight loss"."""
    for entry in group.entries:
        if entry.words.count("of") != 1:
            continue
        place = entry.words.index("of")
        behind = entry.words[place + 1 :]
        inverted = joined((*(behind[1:] if behind[:1] == ("the",) else behind), *entry.words[:place]))
        for other in group.by_form.get(inverted, []):
            if not thesaurus.tells_apart(entry.form, other.form):
                yield pair_of(entry, other, tier=2, method=Method.INVERSION, confidence=0.95)


def by_short_form(group: Group, thesaurus: Thesaurus) -> Iterator[Pair]:
    """Yield pairs of a short form and the one name of the type whose every word it shows.

    With a capital from inside a word a model has to say. Where a passage tells what a short form stands for,
    it is an alias, and `by_alias` decides.
    """
    shorts = {entry: short_forms.letters_of(entry.entity.name).lower() for entry in group.entries}
    longs = index(
        (short_forms.initials_of(entry.entity.name), entry)
        for entry, letters in shorts.items()
        if not letters
    )
    for entry, letters in shorts.items():
        if not letters or entry.form in group.by_alias:
            continue
        strays = [
            (short_forms.strays(entry.entity.name, long.entity.name), long)
            for initials in short_forms.possible_initials(letters)
            for long in longs.get(initials, [])
            if not thesaurus.tells_apart(entry.form, long.form)
        ]
        fitting = [long for number, long in strays if number == 0]
        if fitting:
            yield from _with_the_one(entry, fitting, 2, Method.SHORT_FORM, 0.94)
        else:
            nearly = [long for number, long in strays if number is not None]
            yield from _with_the_one(entry, nearly, 3, Method.MODEL, _ASKED)


def by_genus(group: Group, thesaurus: Thesaurus) -> Iterator[Pair]:
    """Yield pairs of a species with its genus abbreviated and the one species it can be."""
    full = index((short_forms.full_species(entry.entity.name), entry) for entry in group.entries)
    for entry in group.entries:
        species = short_forms.short_species(entry.entity.name)
        if species is not None:
            yield from _with_the_one(entry, full.get(species, []), 2, Method.GENUS, 0.96)


def _with_the_one(
    entry: Entry, found: Sequence[Entry], tier: int, method: Method, confidence: float
) -> Iterator[Pair]:
    """Yield the pairs when all that was found is one name in one form: else it could be any of them."""
    if len({long.form for long in found}) == 1:
        for long in found:
            yield pair_of(entry, long, tier=tier, method=method, confidence=confidence)
