"""Sources of one answer that differ about the same thing, side by side. Pure; nothing is averaged or decided.

Two sentences of two documents stand in one row when both speak of what was asked in nearly the same words,
and either give one figure each, of the same unit, that do not overlap, or say that the same subject goes in
opposite directions. Conditions that neither names may explain the difference: a row is a reason to read
both, not a contradiction proved. What is unclear makes no row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from itertools import combinations

from answers.quantities import Figures, Quantity, figures
from answers.terms import terms
from answers.units import Unit
from corpus.sentences import sentences

# Shares of content words, of the question and of what stands before a direction.
_OF_THE_QUESTION = 0.5
_OF_THE_SUBJECT = 0.6
_FEWEST_SHARED = 3
# What one sentence may say beyond the other. A word on each side ("rice", "wheat") makes them of two things.
_MOST_BEYOND = 1
# Words that name no thing, by which sentences that say the same differ.
_NEUTRAL = frozenset(
    terms(
        "mean average total about approximately around nearly found reported observed measured recorded"
        " showed shows stood held gave lost value values level study results shall only overall respectively"
    )
)
_MOST_ROWS = 6
_LONGEST_SENTENCE = 400
_UP = "increase increases increased rise rises rose raise raises raised higher greater grew gain gains"
_DOWN = (
    "decrease decreases decreased reduce reduces reduced lower lowers lowered less fell fall falls decline"
    " declines declined smaller drop drops dropped"
)
_BETTER = "improve improves improved better enhance enhances enhanced benefit benefits benefited"
_WORSE = "worsen worsens worsened worse impair impairs impaired harm harms harmed deteriorate deteriorated"
_WORDS = {
    word: (axis, sign)
    for axis, sign, words in (
        ("amount", 1, _UP), ("amount", -1, _DOWN), ("quality", 1, _BETTER), ("quality", -1, _WORSE)
    )
    for word in words.split()
}  # fmt: skip
_NEGATION = re.compile(
    r"\b(?:no(?!-)|not|neither|nor|without|never|cannot|hardly|\w+n['’]t)\b", re.IGNORECASE
)
_SIGNIFICANT = re.compile(r"\b(?:in|non-?)?significant(?:ly)?\b", re.IGNORECASE)
_DOUBT = re.compile(
    r"\b(?:whether|if|unless|hypothesi\w+|expected|assum\w+|aim\w*|unclear|"
    r"predict\w*|projected)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_OWN_REFERENCE = re.compile(r"\[\d[\d,;\s\u2010-\u2015-]{0,60}\]")
_BETWEEN = re.compile(r"\s?(?:-|to|and|±)\s?")


class Kind(StrEnum):
    """What differs."""

    FIGURES = "figures"
    DIRECTION = "direction"


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that may be compared. Passages of one `document` are never held against each other."""

    number: int
    document: str
    body: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of one source, and what it says as it is printed there: a figure, or a direction."""

    number: int
    sentence: str
    says: str


@dataclass(frozen=True, slots=True)
class Row:
    """Statements about the same thing that differ, in the order of the sources."""

    kind: Kind
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class _Measure:
    """The one figure of its unit in a sentence: what it may be at least and at most."""

    least: Decimal
    most: Decimal
    printed: str


@dataclass(frozen=True, slots=True)
class _Direction:
    """Where the subject of a sentence goes, or does not go; `subject` stands before the word."""

    sign: int
    is_denied: bool
    printed: str
    subject: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Sentence:
    source: Source
    text: str
    words: frozenset[str]
    measures: dict[Unit, _Measure]
    conditions: dict[Unit, frozenset[Decimal]]
    directions: dict[str, _Direction]


def rows(question: str, sources: Sequence[Source]) -> tuple[Row, ...]:
    """Return what `sources` say differently about `question`, at most six rows."""
    asked = frozenset(terms(question))
    told = [sentence for source in sources for sentence in _telling(source, asked)]
    found: list[Row] = []
    taken: set[tuple[int, str]] = set()
    for one, other in combinations(told, 2):
        keys = {(each.source.number, each.text) for each in (one, other)}
        # A sentence stands in one row: further pairs with it would say the same again.
        if one.source.document == other.source.document or keys & taken or not _same_matter(one, other):
            continue
        row = _differing(one, other)
        if row is not None:
            found.append(row)
            taken |= keys
        if len(found) == _MOST_ROWS:
            break
    return tuple(found)


def _telling(source: Source, asked: frozenset[str]) -> Iterator[_Sentence]:
    """Yield the sentences of a source that speak of what was asked and state something."""
    for text in sentences(source.body):
        sentence = " ".join(text.split())
        found = terms(sentence)
        shared = len(asked & set(found))
        if shared < max(2, _OF_THE_QUESTION * len(asked)) or len(sentence) > _LONGEST_SENTENCE:
            continue
        if sentence.endswith("?") or "|" in sentence or _DOUBT.search(sentence):
            continue
        counted = figures(_OWN_REFERENCE.sub("", sentence))
        measures, parts = _measures(counted)
        yield _Sentence(
            source=source,
            text=sentence,
            words=_content(found),
            measures=measures,
            conditions=_conditions(counted, parts),
            directions=dict(_directions(sentence)),
        )


def _content(found: Sequence[str]) -> frozenset[str]:
    """Return the words that name things: without figures, and without what says where they go."""
    return frozenset(word for word in found if not any(char.isdigit() for char in word)) - _UNNAMING


_UNNAMING = _NEUTRAL | frozenset(terms(f"{' '.join(_WORDS)} significant significantly insignificant"))


def _same_matter(one: _Sentence, other: _Sentence) -> bool:
    if len(one.words & other.words) < _FEWEST_SHARED:
        return False
    beyond = sorted((len(one.words - other.words), len(other.words - one.words)))
    return beyond[0] == 0 and beyond[1] <= _MOST_BEYOND


def _differing(one: _Sentence, other: _Sentence) -> Row | None:
    for unit in one.measures.keys() & other.measures.keys():
        if _conflict_elsewhere(one, other, unit):
            continue
        first, second = one.measures[unit], other.measures[unit]
        if first.most < second.least or second.most < first.least:
            return _row(Kind.FIGURES, (one, first.printed), (other, second.printed))
    for axis in sorted(one.directions.keys() & other.directions.keys()):
        goes, comes = one.directions[axis], other.directions[axis]
        about = goes.subject | comes.subject
        same = bool(about) and len(goes.subject & comes.subject) >= _OF_THE_SUBJECT * len(about)
        if same and _opposed(goes, comes) and not _conflict_elsewhere(one, other, None):
            return _row(Kind.DIRECTION, (one, goes.printed), (other, comes.printed))
    return None


def _opposed(one: _Direction, other: _Direction) -> bool:
    """Say whether one is the reverse of the other, or denies it: "not worse" does not oppose "better"."""
    if one.is_denied or other.is_denied:
        return one.sign == other.sign and one.is_denied != other.is_denied
    return one.sign != other.sign


def _row(kind: Kind, *said: tuple[_Sentence, str]) -> Row:
    stated = (Statement(sentence.source.number, sentence.text, printed) for sentence, printed in said)
    return Row(kind, tuple(sorted(stated, key=lambda statement: statement.number)))


def _conflict_elsewhere(one: _Sentence, other: _Sentence, but: Unit | None) -> bool:
    """Say whether the sentences name different conditions: other years, temperatures, doses."""
    units = (one.conditions.keys() | other.conditions.keys()) - {but}
    return any(one.conditions.get(unit) != other.conditions.get(unit) for unit in units)


def _measures(counted: Figures) -> tuple[dict[Unit, _Measure], set[int]]:
    """Return the figures that stand alone with their unit, and where the first half of a range stands.

    "10 to 20 %" and "12 ± 3 %" are one figure each; of a unit that comes twice nothing is returned.
    """
    found: dict[Unit, list[_Measure]] = {}
    parts: set[int] = set()
    for before, quantity in zip((None, *counted.quantities), counted.quantities, strict=False):
        if quantity.unit:
            joined = _joined(counted.plain, before, quantity)
            if joined and before:
                parts.add(before.start)
            measures = found.setdefault(quantity.unit, [])
            if joined and before and before.unit:
                measures.pop()
            measures.append(joined or _alone(counted.plain, quantity))
    return {unit: measures[0] for unit, measures in found.items() if len(measures) == 1}, parts


def _alone(plain: str, quantity: Quantity) -> _Measure:
    printed = plain[quantity.start : quantity.end].strip()
    return _Measure(quantity.value, quantity.value, printed)


def _joined(plain: str, before: Quantity | None, quantity: Quantity) -> _Measure | None:
    if before is None or before.unit not in ((), quantity.unit):
        return None
    between = plain[before.end : quantity.start]
    if not _BETWEEN.fullmatch(between) and between.strip():
        return None
    printed = plain[before.start : quantity.end].strip()
    if "±" in between:
        spread = abs(quantity.value)
        return _Measure(before.value - spread, before.value + spread, printed)
    ends = sorted((before.value, abs(quantity.value)))
    return _Measure(ends[0], ends[1], printed)


def _conditions(counted: Figures, parts: set[int]) -> dict[Unit, frozenset[Decimal]]:
    """Return every figure by its unit, numbers in words among them: what may make two sentences differ."""
    found: dict[Unit, set[Decimal]] = {}
    for quantity in counted.quantities:
        if quantity.start not in parts:
            found.setdefault(quantity.unit, set()).add(quantity.value)
    if counted.words:
        found[(("in words", 1),)] = set(counted.words)
    return {unit: frozenset(values) for unit, values in found.items()}


def _directions(sentence: str) -> Iterator[tuple[str, _Direction]]:
    """Yield the one direction of each axis; a sentence with two, or with more than one denial, is unclear."""
    denials = list(_NEGATION.finditer(sentence))
    if len(denials) > 1:
        return
    denied_from = denials[0].start() if denials else None
    by_axis: dict[str, list[tuple[int, re.Match[str]]]] = {}
    for match in _WORD.finditer(sentence):
        if entry := _WORDS.get(match.group().lower()):
            by_axis.setdefault(entry[0], []).append((entry[1], match))
    for axis, found in by_axis.items():
        if len(found) == 1:
            sign, match = found[0]
            is_denied = denied_from is not None and denied_from < match.start()
            start = denied_from if is_denied and denied_from is not None else match.start()
            subject = _content(terms(sentence[: match.start()]))
            yield axis, _Direction(sign, is_denied, sentence[start : match.end()], subject)
    yield from _significance(sentence, denied_from)


def _significance(sentence: str, denied_from: int | None) -> Iterator[tuple[str, _Direction]]:
    found = list(_SIGNIFICANT.finditer(sentence))
    if len(found) != 1:
        return
    match = found[0]
    is_denied = denied_from is not None and denied_from < match.start()
    has_prefix = match.group().lower()[:2] in {"in", "no"}
    if is_denied and has_prefix:
        return
    start = denied_from if is_denied and denied_from is not None else match.start()
    subject = _content(terms(sentence))
    said = sentence[start : match.end()]
    yield "significance", _Direction(1, is_denied or has_prefix, said, subject)
