"""Licences stated in a sentence. A licence counts where the sentence gives it to the text itself."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto

from corpus.licensing import addresses, creative_commons, wording
from corpus.licensing.readings import LicenseReading, strictest, unknown
from corpus.rights import LicenseClass

LONGEST = 10_000
NAMES_NONE = "No known licence is named."
NOT_OF_THE_TEXT = "A licence is named, but not as that of the text."
_MARKUP = re.compile(r"<[^<>]{0,500}>")
_LINK = re.compile(r"<a\s[^<>]{0,300}?href\s*=\s*[\"']?\s*([^\s\"'<>]{1,500})[^<>]{0,300}>", re.IGNORECASE)
_ADDRESS = re.compile(r"(?<![\w./@-])(?:https?://|www\.|creativecommons\.org/)[^\s<>\"'\[\]{}|^`]+")
_SENTENCE_END = re.compile(r"[.!?;](?:\s|$)")
_AFTER = 600
_MOST_MENTIONS = 24


class _Place(Enum):
    """What naming a licence does where it stands."""

    GRANTED = auto()  # gives the licence to the text
    ALONGSIDE = auto()  # names it without giving it: it may limit what is given elsewhere
    ELSEWHERE = auto()  # speaks of data, figures or another work


@dataclass(frozen=True, slots=True)
class _Mention:
    """A licence named at a place in the text; None where it is named in a form that does not exist."""

    start: int
    end: int
    reading: LicenseReading | None
    says_so_itself: bool = False


def read(text: str) -> LicenseReading:
    """Read a statement: its addresses, names and codes of licences, and words that keep or limit rights."""
    if len(text) > LONGEST:
        return unknown("Too long for a statement of rights.")
    plain = _plain(text)
    words = _ADDRESS.sub(lambda found: " " * len(found[0]), plain)
    if wording.CONDITIONAL.search(words):
        return unknown("The statement depends on a condition, a choice or a date.")
    mentions = sorted([*_at_addresses(plain), *_in_words(words)], key=lambda mention: mention.start)
    if len(mentions) > _MOST_MENTIONS:
        return unknown("The text names more licences than a statement of rights.")
    if any(mention.reading is None for mention in mentions):
        return unknown("The statement names a licence in a form that does not exist.")
    return _weigh(mentions, words)


def _weigh(mentions: list[_Mention], words: str) -> LicenseReading:
    """Return what the licences named come to, together with the words around them."""
    read_as = [(mention, mention.reading) for mention in mentions if mention.reading is not None]
    closed = [reading for _, reading in read_as if not reading.is_open]
    placed = [(reading, _place(mention, words)) for mention, reading in read_as if reading.is_open]
    if not any(place is _Place.GRANTED for _, place in placed):
        return _closed(closed, words, named=bool(mentions))
    if closed or wording.CLOSES_ALL.search(words):
        return unknown("The statement both opens and reserves rights.")
    if wording.has_only_strange_words(_without(mentions, words)):
        return unknown("A known licence stands beside words that make no statement.")
    opened = strictest(reading for reading, place in placed if place is not _Place.ELSEWHERE)
    return _limited(opened, _without(mentions, words))


def _plain(text: str) -> str:
    """Return the text in lower case, without markup; the addresses that links lead to stay."""
    words = html.unescape(_MARKUP.sub(" ", _LINK.sub(r" \1 ", text)))
    return " ".join(words.split()).lower()


def _at_addresses(plain: str) -> Iterator[_Mention]:
    for found in _ADDRESS.finditer(plain):
        reading = addresses.read(found[0])
        if reading.reason == addresses.NO_SUCH_LICENCE:
            yield _Mention(found.start(), found.end(), None)
        elif reading.is_known:
            yield _Mention(found.start(), found.end(), reading)


def _in_words(words: str) -> Iterator[_Mention]:
    for found in wording.cc_name().finditer(words):
        named = creative_commons.from_name(found["elements"], found["version"] or "", found["flavour"] or "")
        yield _Mention(found.start(), found.end(), named if wording.name_ends(found, words) else None)
    for start, end, code in wording.codes(words):
        yield _Mention(start, end, creative_commons.from_code(code))
    for pattern, license_class, reason, says_so_itself in wording.NAMED:
        for found in pattern.finditer(words):
            reading = LicenseReading(
                license_class, no_derivatives=False, reason=reason, matched_form=found[0].strip()
            )
            ends = says_so_itself or wording.after_a_code(words, found.end())
            yield _Mention(found.start(), found.end(), reading if ends else None, says_so_itself)


def _place(mention: _Mention, words: str) -> _Place:
    start = max((found.end() for found in _SENTENCE_END.finditer(words, 0, mention.start)), default=0)
    sentence = words[start : mention.start]
    about_data = wording.OF_THE_DATA.match(words[mention.end : mention.end + _AFTER])
    if about_data or wording.OF_ANOTHER_WORK.search(sentence):
        return _Place.ELSEWHERE
    inside = list(wording.SUBJECTS.finditer(sentence))
    before = [] if inside else list(wording.SUBJECTS.finditer(words, 0, start))[-1:]
    if any(subject["other"] for subject in inside or before):
        return _Place.ELSEWHERE
    begins = (
        mention.says_so_itself
        or not sentence.strip(" (:\"'“")
        or wording.BEGINS_A_GRANT.search(sentence) is not None
    )
    return _Place.GRANTED if begins else _Place.ALONGSIDE


def _closed(closed: list[LicenseReading], words: str, *, named: bool) -> LicenseReading:
    if closed:
        return strictest(closed)
    found = wording.CLOSES_ALL.search(words) or wording.CLOSES_UNLESS_OPEN.search(words)
    if found is not None:
        return LicenseReading(
            LicenseClass.RESTRICTED,
            no_derivatives=False,
            reason="Rights are reserved.",
            matched_form=found[0],
        )
    if named:
        return unknown(NOT_OF_THE_TEXT)
    return unknown(NAMES_NONE)


def _without(mentions: list[_Mention], words: str) -> str:
    kept, position = [], 0
    for mention in mentions:
        kept.append(words[position : mention.start])
        position = max(position, mention.end)
    return " ".join([*kept, words[position:]])


def _limited(reading: LicenseReading, words: str) -> LicenseReading:
    """Lower a reading by what the words around the licence's name forbid."""
    verbatim = reading.no_derivatives or wording.NO_DERIVATIVES.search(words) is not None
    limited = replace(reading, no_derivatives=verbatim)
    if reading.license_class is LicenseClass.OPEN_NONCOMMERCIAL or not wording.limits_commercial_use(words):
        return limited
    if reading.license_class is LicenseClass.PUBLIC:
        return unknown(
            "Public domain and a limit on commercial use exclude each other.", reading.matched_form
        )
    return replace(
        limited,
        license_class=LicenseClass.OPEN_NONCOMMERCIAL,
        reason=f"{reading.matched_form} is named, but words limit commercial use.",
    )
