"""Text that speaks to a machine, not to a reader: orders to models, forged frames, hidden characters. Pure.

A rule of caution, not a proof: what it finds waits for a librarian, and what it misses must be harmless
all the same, since answers are held to their sources and models have no tools. Linear in the text's length.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice, pairwise
from typing import Final

from corpus.normalise import matching_form
from corpus.parsing.hidden import Hidden, How
from corpus.suspicion_phrases import (
    CLOSING,
    DIGITS,
    LOOKALIKES,
    OPENING,
    ORDERS,
    REPORTED,
    SCRAMBLED_OBJECTS,
    SCRAMBLED_VERBS,
    VERB_SHAPES,
)

# Counted up with every change of these rules or of what is hidden text: documents are then due again.
VERSION: Final = 2
_QUOTE = 200
_LONGEST_ENCODED = 4_000
# A word may be spelled with letters between which nobody sees anything.
_INVISIBLE = "\u200b-\u200d\u2060-\u2064\ufeff\u00ad\u180e"
_SPLIT_WORD = re.compile(rf"[A-Za-z][{_INVISIBLE}]+[A-Za-z]")
_FEW_SPLITS = 2
_TAGS = re.compile("[\U000e0020-\U000e007f]+")
_FLAG = "\U0001f3f4"
_OVERRIDES = re.compile("[\u202d\u202e]")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_ENCODED = re.compile(r"[A-Za-z0-9+/]{40,}={0,2}")
_SPACED = re.compile(r"(?<!\S)\S(?: \S){9,}(?!\S)")
_HYPHENED = re.compile(r"[A-Za-z]{2,20}(?:[-_][A-Za-z]{2,20}){3}")
_HYPHENS = str.maketrans("-_", "  ")
_WORDS = re.compile(r"[^\W\d_]+")
_DIGIT_IN_WORD = re.compile(r"[A-Za-z][013457@$][A-Za-z]")
_SHORTEST_SCRAMBLED = 4
_NEAR = 6
# Of one pattern in one text: beyond so many reports of orders the text is one itself.
_MOST_MATCHES = 20
_LISTED = re.compile(r"[\"'“‘«„][^\"'”’»“]{1,120}[\"'”’»“](?:,| and| or){1,2}$")
# Names of forms and labels of figures are hidden in files; so many words are a sentence.
_FEWEST_WORDS = 4


class Kind(StrEnum):
    """What is suspicious about a place."""

    ORDER = "order"
    ENCODED_ORDER = "encoded_order"
    DISGUISED_ORDER = "disguised_order"
    HIDDEN_CHARACTERS = "hidden_characters"
    HIDDEN_TEXT = "hidden_text"


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A place in a passage, and the words that raised it, without what cannot be seen."""

    ordinal: int
    kind: Kind
    quote: str


def found(passages: Sequence[str]) -> list[Suspicion]:
    """Return what is suspicious about a document's passages, one for each kind and passage, in order.

    Words are read across the ends of passages: an order may be cut in two.
    """
    seen: dict[tuple[int, Kind], Suspicion] = {}
    for number, text in enumerate(passages):
        for kind, quote in _in_text(text):
            seen.setdefault((number, kind), Suspicion(number, kind, quote))
    for number, (before, after) in enumerate(pairwise(passages)):
        seam = f"{before[-_QUOTE:]} {after[:_QUOTE]}"
        if not any((place, kind) in seen for place in (number, number + 1) for kind in Kind):
            for kind, quote in _in_text(seam):
                seen.setdefault((number, kind), Suspicion(number, kind, quote))
    return [seen[key] for key in sorted(seen)]


def hidden(places: Sequence[Hidden]) -> list[Suspicion]:
    """Return what is suspicious about the hidden text of a document: orders, and sentences kept from readers.

    What a web page only puts away until it is asked for is suspicious when it gives orders. `ordinal` is the
    number of the place.
    """
    found = []
    for number, place in enumerate(places):
        order = next((quote for kind, quote in _in_text(place.text)), "")
        is_sentence = place.how is not How.NOT_DISPLAYED and _words(place.text) >= _FEWEST_WORDS
        if order or is_sentence:
            found.append(Suspicion(number, Kind.HIDDEN_TEXT, order or _around(place.text, 0)))
    return found


def _words(text: str) -> int:
    """Count words of two letters or more; where no spaces part them, two letters are one."""
    count = 0
    for word in text.split():
        letters = word.strip(".,;:!?()[]\"'“”‘’")
        if len(letters) > 1 and letters.isalpha():
            count += 1 if letters.isascii() else max(1, len(letters) // 8)
    return count


def _in_text(text: str) -> Iterator[tuple[Kind, str]]:
    yield from _hidden(text)
    plain = matching_form(_without_hidden(text))
    if quote := _order(plain):
        yield Kind.ORDER, quote
    elif quote := _disguised(plain):
        yield Kind.DISGUISED_ORDER, quote
    for encoded in _ENCODED.finditer(plain):
        if quote := _order(_decoded(encoded[0])):
            yield Kind.ENCODED_ORDER, quote
            break


def _disguised(plain: str) -> str:
    latin = plain if plain.isascii() else plain.translate(LOOKALIKES)
    others = [latin] if latin != plain else []
    if _DIGIT_IN_WORD.search(latin):
        others.append(latin.translate(DIGITS))
    if _SPACED.search(plain):
        others.append(_closed_up(plain))
    if _HYPHENED.search(plain):
        others.append(plain.translate(_HYPHENS))
    return next(filter(None, map(_order, others)), "") or _scrambled(plain)


def _hidden(text: str) -> Iterator[tuple[Kind, str]]:
    if text.isascii():
        return
    tags = next((run for run in _TAGS.finditer(text) if _before(text, run.start()) != _FLAG), None)
    splits = _SPLIT_WORD.findall(text)
    first = tags or _OVERRIDES.search(text) or _SELECTORS.search(text)
    if first is None and len(splits) > _FEW_SPLITS:
        first = _SPLIT_WORD.search(text)
    if first is not None:
        yield Kind.HIDDEN_CHARACTERS, _around(text, first.start())


def _before(text: str, place: int) -> str:
    return text[place - 1] if place else ""


def _without_hidden(text: str) -> str:
    """Return the text with tag characters as the letters they stand for, and nothing else unseen."""
    if text.isascii():
        return text
    spelt = _TAGS.sub(lambda run: f" {_as_letters(run[0])} ", text)
    return re.sub(rf"[{_INVISIBLE}\u202a-\u202e\u2066-\u2069]", "", spelt)


def _as_letters(tags: str) -> str:
    return "".join(chr(ord(tag) - 0xE0000) for tag in tags if tag < "\U000e007f")


def _order(text: str) -> str:
    for pattern in ORDERS:
        for match in islice(pattern.finditer(text), _MOST_MATCHES):
            if not _is_reported(text, match.start(), match.end()):
                return _around(text, match.start())
    return ""


def _is_reported(text: str, start: int, end: int) -> bool:
    """Whether an order stands in quotation marks that a text about such orders leads up to.

    Whoever writes such a text to give the order is not stopped here; nobody who only tells of it waits.
    """
    before = text[max(0, start - _QUOTE) : start + 1]
    opened = [mark.start() for mark in OPENING.finditer(before)]
    if not opened or not any(sign in CLOSING for sign in text[end : end + _QUOTE]):
        return False
    said = before[: opened[-1]].rstrip()
    # A list of quotations has one lead for all of them.
    while said and (listed := _LISTED.search(said)):
        said = said[: listed.start()].rstrip()
    return bool(REPORTED.search(said))


def _around(text: str, place: int) -> str:
    start = max(0, place - 40)
    return " ".join(_without_hidden(text[start : start + _QUOTE]).split())


def _closed_up(text: str) -> str:
    """Return the runs of single letters, "i g n o r e", as words; wider gaps part words."""
    runs = (run[0].replace(" ", "") for run in _SPACED.finditer(text))
    return " ".join(_parted(run) for run in runs)


def _parted(letters: str) -> str:
    """Return letters without white space, parted at the words that orders are made of."""
    return re.sub(
        r"(?i)(ignore|disregard|forget|override|all|any|the|your|previous|prior|above|instructions?|rules)",
        r" \1 ",
        letters,
    )


def _decoded(text: str) -> str:
    usable = text[:_LONGEST_ENCODED].rstrip("=")
    usable = usable[: len(usable) - (len(usable) % 4 == 1)]
    try:
        raw = base64.b64decode(usable + "=" * (-len(usable) % 4))
    except (binascii.Error, ValueError):
        return ""
    return matching_form(raw.decode("utf-8", "ignore"))


def _scrambled(text: str) -> str:
    """Return where a verb stands near its object, both with their inner letters in another order or not."""
    if not any(_signature(match[0].casefold()) in SCRAMBLED_VERBS for match in VERB_SHAPES.finditer(text)):
        return ""
    last_verb = -_NEAR - 1
    for number, match in enumerate(_WORDS.finditer(text)):
        signature = _signature(match[0].casefold())
        if signature in SCRAMBLED_VERBS:
            last_verb, place = number, match.start()
        elif signature in SCRAMBLED_OBJECTS and number - last_verb <= _NEAR:
            words = text[place : match.end()]
            # Spelled right it is a sentence like others, which the patterns have let pass.
            if _is_scrambled(words):
                return _around(text, place)
    return ""


def _is_scrambled(words: str) -> bool:
    known = set(SCRAMBLED_VERBS.values()) | set(SCRAMBLED_OBJECTS.values())
    return any(_known(word) and word not in known for word in _WORDS.findall(words.casefold()))


def _known(word: str) -> bool:
    signature = _signature(word)
    return signature in SCRAMBLED_VERBS or signature in SCRAMBLED_OBJECTS


def _signature(word: str) -> str:
    if len(word) < _SHORTEST_SCRAMBLED:
        return word
    return f"{word[0]}{''.join(sorted(word[1:-1]))}{word[-1]}"
