"""The extractor that needs no model: names the expert gave, abbreviations, and what phrases relate. Pure.

It only ever points at words of the passage. A relation between two things it knows, the phrase between
them, is a direct statement; with a thing it knows by the sentence alone it is less sure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from corpus.normalise import matching_form
from corpus.sentences import sentence_spans
from retrieval.graph.extraction import phrases
from retrieval.graph.extraction.acronyms import Definition, definitions, unambiguous
from retrieval.graph.extraction.lexicon import Known, Lexicon, Phrase
from retrieval.graph.extraction.phrases import Word, words
from retrieval.graph.extraction.types import (
    Batch,
    Passage,
    SuggestedEntity,
    SuggestedRelation,
    Suggestions,
)
from retrieval.graph.naming import key_of
from retrieval.graph.ontology import Ontology

# Counts up with every change of what the rules find, so that passages are read again.
VERSION: Final = 1

DIRECT, IMPLIED, INFERRED = 1.0, 0.7, 0.4
# How far from its phrase an end may stand, in words.
_REACH = 6
_LONGEST_SENTENCE = 1_000
_BLOCKS = re.compile(r"\n[ \t]*\n|\n(?=\s*[|#>*-])")
_DEFINES = re.compile(r"\s*(?:\([^()]{1,40}\)\s*)?(?:is|are) (?:an?|the|defined as) ")


@dataclass(frozen=True, slots=True)
class _End:
    """A thing in a sentence: its words, how it is known, and whether it stands right at the phrase."""

    text: str
    known: Known | None
    is_near: bool


@dataclass(slots=True)
class _Notes:
    """What was found in one passage so far."""

    passage: int
    aliases: dict[tuple[str, str], dict[str, None]] = field(default_factory=dict)
    descriptions: dict[tuple[str, str], str] = field(default_factory=dict)
    relations: list[SuggestedRelation] = field(default_factory=list)

    def add(self, entity_type: str, name: str, surface: str) -> None:
        self.aliases.setdefault((entity_type, name), {})[surface] = None

    def entities(self) -> Iterator[SuggestedEntity]:
        for identity, surfaces in self.aliases.items():
            entity_type, name = identity
            said = self.descriptions.get(identity, "")
            yield SuggestedEntity(self.passage, name, entity_type, tuple(surfaces), said)


class RuleExtractor:
    """Reads passages by the ontology's examples, patterns and phrases."""

    batch_limits = (64, 1_000_000)

    def __init__(self, ontology: Ontology) -> None:
        self._lexicon = Lexicon(ontology)
        digest = hashlib.sha256(f"{VERSION}\n{ontology.digest()}".encode()).hexdigest()
        self.name = f"rules@{digest[:12]}"

    def read(self, batch: Batch) -> Suggestions:
        """Return what the passages say; never fails."""
        shorts = self._abbreviations(batch.texts)
        notes = [self._passage(number, each, shorts) for number, each in enumerate(batch.passages)]
        return Suggestions(
            tuple(entity for note in notes for entity in note.entities()),
            tuple(relation for note in notes for relation in note.relations),
        )

    def _abbreviations(self, texts: tuple[str, ...]) -> dict[str, Known]:
        """Return what each abbreviation of the document stands for."""
        return {
            short: known
            for short, long in unambiguous(_defined(texts)).items()
            if (known := self._lexicon.phrase_type(long))
        }

    def _passage(self, number: int, passage: Passage, shorts: dict[str, Known]) -> _Notes:
        notes = _Notes(number)
        for block in _BLOCKS.split(passage.text):
            form = matching_form(block)
            self._define(form, notes)
            if form.startswith("|"):
                # Rows of a table name things; they are no sentences.
                self._name(words(form), form, shorts, notes)
                continue
            for start, end in sentence_spans(form):
                self._sentence(form[start:end], shorts, notes)
        return notes

    def _define(self, form: str, notes: _Notes) -> None:
        for definition in definitions(form):
            known = self._lexicon.phrase_type(definition.long)
            if known is not None:
                notes.add(known.type, known.name, definition.long)
                notes.add(known.type, known.name, definition.short)

    def _sentence(self, sentence: str, shorts: dict[str, Known], notes: _Notes) -> None:
        found = words(sentence)
        named = self._name(found, sentence, shorts, notes)
        if len(sentence) > _LONGEST_SENTENCE:
            return
        if named and named[0].start == 0 and _DEFINES.match(sentence, found[named[0].end - 1].end):
            notes.descriptions.setdefault((named[0].type, named[0].name), sentence)
        for phrase in self._lexicon.phrases(found):
            self._relate(sentence, found, named, phrase, notes)

    def _name(self, found: list[Word], text: str, shorts: dict[str, Known], notes: _Notes) -> list[Known]:
        named = self._lexicon.names(found, text, shorts)
        for known in named:
            notes.add(known.type, known.name, text[found[known.start].start : found[known.end - 1].end])
        return named

    def _relate(
        self, sentence: str, found: list[Word], named: list[Known], phrase: Phrase, notes: _Notes
    ) -> None:
        before = {word.low for word in found[max(0, phrase.start - 3) : phrase.start]}
        if before & phrases.NEGATIONS or _lacks_a_doer(found, phrase):
            return
        ends = (_before(sentence, found, named, phrase), _after(sentence, found, named, phrase))
        left, right = (self._settled(end) for end in ends)
        if left is None or right is None or key_of(left[0]) == key_of(right[0]):
            return
        for text, known in (left, right):
            notes.add(known.type, known.name, text)
        source, target = (right, left) if phrase.is_reversed else (left, right)
        confidence = _confidence(ends, is_hedged=bool(before & phrases.HEDGES))
        notes.relations.append(
            SuggestedRelation(notes.passage, source[0], target[0], phrase.relation, sentence, confidence)
        )

    def _settled(self, end: _End | None) -> tuple[str, Known] | None:
        """Return the words of an end and what they name, for which the ontology may have no type."""
        if end is None:
            return None
        known = end.known or self._lexicon.phrase_type(end.text)
        return None if known is None else (end.text, known)


def _confidence(ends: tuple[_End | None, _End | None], *, is_hedged: bool) -> float:
    known = [end is not None and end.known is not None for end in ends]
    near = [end is not None and end.is_near for end in ends]
    if all(known) and all(near) and not is_hedged:
        return DIRECT
    return IMPLIED if any(known) else INFERRED


def _before(sentence: str, found: list[Word], named: list[Known], phrase: Phrase) -> _End | None:
    """Return the thing that the phrase says something of."""
    end = phrase.start
    while end > 0 and (found[end - 1].low in phrases.BETWEEN or found[end - 1].low.endswith("ly")):
        end -= 1
    if end > 0 and found[end - 1].low in phrases.PRONOUNS:
        return None
    known = next((each for each in reversed(named) if each.end <= end and end - each.end <= _REACH), None)
    if known is not None and not _is_parted(sentence, found, known.end, end):
        is_subject = known.start == 0 or found[known.start - 1].low not in phrases.PREPOSITIONS
        return _End(_text(sentence, found, known.start, known.end), known, known.end == end and is_subject)
    run = phrases.run_before(found, end)
    return None if run is None else _End(_text(sentence, found, *run), None, is_near=True)


def _after(sentence: str, found: list[Word], named: list[Known], phrase: Phrase) -> _End | None:
    """Return the thing that the phrase says about the other."""
    start = phrase.end
    while start < len(found) and found[start].low in phrases.BEFORE_NAMES:
        start += 1
    known = next((each for each in named if start <= each.start <= start + _REACH), None)
    if known is not None and not _is_parted(sentence, found, start, known.start):
        return _End(_text(sentence, found, known.start, known.end), known, known.start == start)
    run = phrases.run_after(found, start)
    return None if run is None else _End(_text(sentence, found, *run), None, is_near=True)


def _lacks_a_doer(found: list[Word], phrase: Phrase) -> bool:
    """Whether the phrase says what is done to a thing and not by what: "was raised in steps"."""
    place = phrase.start
    while place > 0 and found[place - 1].low.endswith("ly"):
        place -= 1
    is_participle = found[phrase.end - 1].low.endswith("ed") and not phrase.is_reversed
    return is_participle and place > 0 and found[place - 1].low in phrases.PASSIVE


def _is_parted(sentence: str, found: list[Word], start: int, end: int) -> bool:
    """Whether the words between two places, or what stands around them, leave the clause."""
    first = found[start - 1].end if start else 0
    last = found[end].start if end < len(found) else len(sentence)
    between = sentence[first:last]
    return any(mark in between for mark in ",;:()|") or any(
        word.low in {"and", "but", "while", "whereas", "because"} for word in found[start:end]
    )


def _text(sentence: str, found: list[Word], start: int, end: int) -> str:
    return sentence[found[start].start : found[end - 1].end]


@lru_cache(maxsize=2)
def _defined(texts: tuple[str, ...]) -> list[Definition]:
    """Return what a document defines. Kept, because its passages may come in more than one batch."""
    return [each for text in texts for each in definitions(matching_form(text))]
