"""Citations in an answer's text: which markers point at which numbered source.

A marker is a bracket that holds nothing but numbers: [1], [1, 2], [1-3], [1][2], and the full-width
brackets some models write. Numbers count from 1. [01] is read as 1, since no other source can be meant;
[0] and numbers above the last source are markers of sources that were never retrieved, and are reported.

Not markers: brackets in code, escaped brackets, and the literature's own reference numbers. Those are
known by their surroundings: a bracket inside a quotation that stands word for word in a source, or a
number beyond the list whose preceding words and bracket stand word for word in a source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# A range this long cites nothing: only its ends are kept.
_LONGEST_RANGE = 60
_OPEN, _CLOSE = r"[\[［【]", r"[\]］】]"
_NUMBER = r"\d{1,6}"
_DASH = r"[-\u2010-\u2015\u2212]"
_PART = rf"{_NUMBER}(?:\s?{_DASH}\s?{_NUMBER})?"
_MARKER = re.compile(rf"(?<!\\){_OPEN}\s?({_PART}(?:\s?[,;，；、]\s?{_PART}){{0,40}})\s?{_CLOSE}")
_PIECE = re.compile(rf"({_NUMBER})(?:\s?{_DASH}\s?({_NUMBER}))?")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_TICKS = re.compile(r"`+")
_QUOTES = {"“": "”", '"': '"', "„": "“", "«": "»"}
_OPENING_QUOTE = re.compile("[" + "".join(_QUOTES) + "]")
_SHORTEST_QUOTATION = 12
_LONGEST_QUOTATION = 4000
_CONTEXT_WORDS = 3


@dataclass(frozen=True, slots=True)
class Citation:
    """One marker: its place in the text, the listed sources it names and the numbers that name none."""

    start: int
    end: int
    numbers: tuple[int, ...]
    unknown: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words between quotation marks that stand in a source exactly like that; the marks are outside."""

    start: int
    end: int


def find(text: str, bodies: Sequence[str]) -> tuple[Citation, ...]:
    """Return the markers of `text` in order; `bodies` are the texts of the sources 1, 2, 3 ..."""
    squeezed = [_squeeze(body) for body in bodies]
    visible = without_code(text)
    quoted = _quotations(text, visible, squeezed)
    found = []
    for match in _MARKER.finditer(visible):
        if any(quotation.start <= match.start() < quotation.end for quotation in quoted):
            continue
        numbers = _numbers(match.group(1))
        unknown = tuple(number for number in numbers if not 1 <= number <= len(bodies))
        if unknown and _stands_in_a_source(visible, match, squeezed):
            continue
        listed = tuple(number for number in numbers if 1 <= number <= len(bodies))
        found.append(Citation(match.start(), match.end(), listed, unknown))
    return tuple(found)


def quotations(text: str, bodies: Sequence[str]) -> tuple[Quotation, ...]:
    """Return the quotations of `text` that stand word for word in one of `bodies`."""
    return _quotations(text, without_code(text), [_squeeze(body) for body in bodies])


def cited_numbers(citations: Iterable[Citation]) -> tuple[int, ...]:
    """Return the numbers of the listed sources that are cited, each once, in order of the list."""
    return tuple(sorted({number for citation in citations for number in citation.numbers}))


def without_code(text: str) -> str:
    """Return `text` with code blocks and code spans blanked out, every other character in its place."""
    text = _without_fences(text)
    kept = list(text)
    runs = [(match.start(), match.end()) for match in _TICKS.finditer(text)]
    nearest: dict[int, list[int]] = {}
    for index, (start, end) in enumerate(runs):
        nearest.setdefault(end - start, []).append(index)
    index = 0
    while index < len(runs):
        start, end = runs[index]
        later = nearest[end - start]
        while later and later[0] <= index:
            later.pop(0)
        if later and "\n\n" not in text[end : runs[later[0]][0]]:
            index = later[0]
            close = runs[index][1]
            kept[start:close] = " " * (close - start)
        index += 1
    return "".join(kept)


def _without_fences(text: str) -> str:
    pieces, position, opening = [], 0, None
    for match in _FENCE.finditer(text):
        mark = match.group(1)
        if opening is None:
            opening = match
        elif mark.startswith(opening.group(1)) and not match.group(2).strip():
            pieces += [text[position : opening.start()], " " * (match.end() - opening.start())]
            position, opening = match.end(), None
    if opening is not None:
        pieces += [text[position : opening.start()], " " * (len(text) - opening.start())]
        position = len(text)
    return "".join([*pieces, text[position:]])


def _numbers(inside: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for match in _PIECE.finditer(inside):
        first, last = int(match.group(1)), int(match.group(2) or match.group(1))
        low, high = min(first, last), max(first, last)
        numbers += range(low, high + 1) if high - low < _LONGEST_RANGE else (low, high)
    return tuple(dict.fromkeys(numbers))


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def _quotations(text: str, visible: str, squeezed: Sequence[str]) -> tuple[Quotation, ...]:
    found: list[Quotation] = []
    position = 0
    while match := _OPENING_QUOTE.search(visible, position):
        end = _closing(text, match.start(), squeezed)
        if end is None:
            position = match.end()
        else:
            found.append(Quotation(match.end(), end))
            position = end + 1
    return tuple(found)


def _closing(text: str, start: int, squeezed: Sequence[str]) -> int | None:
    """Return where the longest quotation from `start` that a source holds ends, if there is any.

    Candidates are tried from near to far: a quotation that no source holds cannot become one by growing.
    """
    mark = _QUOTES[text[start]]
    limit = start + _LONGEST_QUOTATION
    end_of_paragraph = text.find("\n\n", start, limit)
    limit = limit if end_of_paragraph < 0 else end_of_paragraph
    best, place = None, text.find(mark, start + 1, limit)
    while place >= 0:
        words = _squeeze(text[start + 1 : place])
        if not any(words in body for body in squeezed):
            break
        if len(words) >= _SHORTEST_QUOTATION:
            best = place
        place = text.find(mark, place + 1, limit)
    return best


def _stands_in_a_source(text: str, marker: re.Match[str], squeezed: Sequence[str]) -> bool:
    before = text[max(0, marker.start() - 120) : marker.start()]
    words = before.split()[-_CONTEXT_WORDS:]
    if len(words) < _CONTEXT_WORDS:
        return False
    space = " " if before[-1:].isspace() else ""
    context = " ".join(words) + space + _squeeze(marker.group())
    return any(context in body for body in squeezed)
