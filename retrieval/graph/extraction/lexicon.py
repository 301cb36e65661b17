"""What the ontology knows, prepared for looking words up. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from retrieval.graph.extraction.phrases import Word, is_part_of_a_name, words
from retrieval.graph.naming import key_of
from retrieval.graph.ontology import Ontology

_LONGEST_NAME = 8
_LONGEST_MATCHED = 4


@dataclass(frozen=True, slots=True)
class Known:
    """A thing by type and name; `start` and `end` count words when it was found in a sentence."""

    type: str
    name: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase that relates what stands before it to what stands behind."""

    relation: str
    is_reversed: bool
    start: int
    end: int


class Lexicon:
    """Names, patterns and phrases of an ontology."""

    def __init__(self, ontology: Ontology) -> None:
        self._fallback = ontology.fallback
        self._names: dict[tuple[str, ...], Known] = {}
        for key, (entity_type, name) in ontology.examples.items():
            self._names[tuple(word.low for word in words(key))] = Known(entity_type, name)
        self._firsts = {spelling[0] for spelling in self._names if spelling}
        self._patterns = [
            (entity_type, re.compile(pattern, re.IGNORECASE))
            for entity_type, described in ontology.entity_types.items()
            for pattern in described.patterns
        ]
        self._phrases: dict[tuple[str, ...], tuple[str, bool]] = {}
        for relation, declared in ontology.relation_types.items():
            for is_reversed, said in ((False, declared.phrases), (True, declared.reversed)):
                for phrase in said:
                    self._phrases.setdefault(tuple(phrase.lower().split()), (relation, is_reversed))
        self._longest_phrase = max(map(len, self._phrases), default=0)

    def names(self, found: list[Word], text: str, shorts: dict[str, Known]) -> list[Known]:
        """Return the things that the words of a text name, in order, the longest names first to be taken."""
        named: list[Known] = []
        place = 0
        while place < len(found):
            known = self._listed(found, text, place) or _short(found, place, shorts)
            known = known or self._matched(found, text, place)
            if known is None:
                place += 1
            else:
                named.append(known)
                place = known.end
        return named

    def phrase_type(self, phrase: str) -> Known | None:
        """Return what a phrase names: an example, a name that a pattern has, else one of the fallback type.

        A phrase that ends in an example is of its type: "thermophilic anaerobic digestion".
        """
        lows = tuple(word.low for word in words(phrase))
        for start in range(len(lows)):
            known = self._names.get(lows[start:]) or self._singular(lows[start:])
            if known is not None:
                return known if start == 0 else Known(known.type, phrase)
        for entity_type, pattern in self._patterns:
            if pattern.fullmatch(phrase):
                return Known(entity_type, phrase)
        return Known(self._fallback, phrase) if self._fallback and key_of(phrase) else None

    def phrases(self, found: list[Word]) -> Iterator[Phrase]:
        """Yield the phrases that relate, in order, the longest at each place."""
        place = 0
        while place < len(found):
            phrase = self._phrase(found, place)
            if phrase is None:
                place += 1
            else:
                yield phrase
                place = phrase.end

    def _phrase(self, found: list[Word], place: int) -> Phrase | None:
        for length in range(min(self._longest_phrase, len(found) - place), 0, -1):
            said = self._phrases.get(tuple(word.low for word in found[place : place + length]))
            if said is None:
                continue
            relation, is_reversed = said
            end = place + length
            # "was strongly reduced by": the doer stands behind.
            if not is_reversed and found[end - 1].low.endswith("ed") and _is(found, end, "by"):
                return Phrase(relation, is_reversed=True, start=place, end=end + 1)
            return Phrase(relation, is_reversed, place, end)
        return None

    def _listed(self, found: list[Word], text: str, place: int) -> Known | None:
        low = found[place].low
        if low not in self._firsts and low.removesuffix("s") not in self._firsts:
            return None
        for length in range(min(_LONGEST_NAME, len(found) - place), 0, -1):
            span = found[place : place + length]
            if not _is_joined(span, text):
                continue
            lows = tuple(word.low for word in span)
            known = self._names.get(lows) or self._singular(lows)
            if known is not None:
                return replace(known, start=place, end=place + length)
        return None

    def _singular(self, lows: tuple[str, ...]) -> Known | None:
        if not lows or len(lows[-1]) < 4 or not lows[-1].endswith("s"):
            return None
        return self._names.get((*lows[:-1], lows[-1].removesuffix("s")))

    def _matched(self, found: list[Word], text: str, place: int) -> Known | None:
        if not self._patterns or not is_part_of_a_name(found[place]):
            return None
        end, limit = place + 1, min(len(found), place + _LONGEST_MATCHED)
        while end < limit and found[end].follows and is_part_of_a_name(found[end]):
            end += 1
        for last in range(end, place, -1):
            name = text[found[place].start : found[last - 1].end]
            for entity_type, pattern in self._patterns:
                if pattern.fullmatch(name):
                    return Known(entity_type, name, place, last)
        return None


def _short(found: list[Word], place: int, shorts: dict[str, Known]) -> Known | None:
    known = shorts.get(found[place].text)
    return None if known is None else replace(known, start=place, end=place + 1)


def _is(found: list[Word], place: int, low: str) -> bool:
    return place < len(found) and found[place].low == low


def _is_joined(span: list[Word], text: str) -> bool:
    """Whether words stand together: only spaces between, or the dot of an initial ("E. coli")."""
    return all(
        right.follows or (len(left.text) == 1 and text[left.end : right.start] == ". ")
        for left, right in pairwise(span)
    )
