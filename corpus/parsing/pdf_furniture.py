"""Running headers, footers and page numbers: what stands at the same place on page after page.

A short number is never enough. Text counts as furniture when the same words stand at the same height in
the outer part of several pages, or when the words differ only in one number that counts the pages.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corpus.parsing.pdf_types import Line

_OUTER = 0.14
_SAME_PLACE = 4.0
_NUMBER = re.compile(r"\d+|\b[ivxl]{1,7}\b")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50}


@dataclass(frozen=True, slots=True)
class PageLines:
    """The lines of one page and its height."""

    number: int
    height: float
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True)
class _Seen:
    page: int
    row: int
    line_id: int
    numbers: tuple[int, ...]


def find(pages: Sequence[PageLines]) -> set[int]:
    """Return the `id` of every line that is furniture."""
    needed = 2 if len(pages) <= 4 else 3
    groups: dict[tuple[int, str], list[_Seen]] = defaultdict(list)
    for page in pages:
        for line in _outer_lines(page):
            words, numbers = _masked(line.text)
            place = round(min(line.baseline, page.height - line.baseline) / _SAME_PLACE)
            row = place if line.baseline * 2 < page.height else -place - 1
            groups[row, words].append(_Seen(page.number, row, id(line), numbers))
    found: set[int] = set()
    for (row, words), seen in list(groups.items()):
        # A place near the border of two cells of the raster belongs to both.
        together = [*seen, *groups.get((row + 1, words), ())]
        found.update(_repeated(together, needed))
    return found


def _outer_lines(page: PageLines) -> Iterator[Line]:
    """Yield the lines of the outer part, and the first and last ones where the margins are wide."""
    ordered = sorted(line.baseline for line in page.lines)
    first, last = (
        (ordered[min(1, len(ordered) - 1)], ordered[max(-2, -len(ordered))]) if ordered else (0.0, 0.0)
    )
    for line in page.lines:
        is_outer = line.bottom < page.height * _OUTER or line.top > page.height * (1 - _OUTER)
        if is_outer or line.baseline <= first or line.baseline >= last:
            yield line


def _masked(text: str) -> tuple[str, tuple[int, ...]]:
    """Return the words with their numbers masked, and the numbers."""
    lowered = " ".join(text.lower().split())
    numbers = tuple(_value(found[0]) for found in _NUMBER.finditer(lowered))
    return _NUMBER.sub("#", lowered), numbers


def _value(number: str) -> int:
    if number.isdigit():
        return int(number[:12])
    values = [_ROMAN[letter] for letter in number]
    return sum(-value if value < max(values[place:]) else value for place, value in enumerate(values))


def _repeated(seen: Sequence[_Seen], needed: int) -> set[int]:
    """Return the lines that repeat word for word, or whose one changing number counts the pages."""
    found: set[int] = set()
    by_numbers: dict[tuple[int, ...], list[_Seen]] = defaultdict(list)
    for one in seen:
        by_numbers[one.numbers].append(one)
    for same in by_numbers.values():
        if len({one.page for one in same}) >= needed and len(same) <= 2 * len({one.page for one in same}):
            found.update(one.line_id for one in same)
    for place in range(max(len(one.numbers) for one in seen)):
        found.update(_counting(seen, place, needed))
    return found


def _counting(seen: Sequence[_Seen], place: int, needed: int) -> set[int]:
    by_offset: dict[tuple[int, tuple[int, ...]], list[_Seen]] = defaultdict(list)
    for one in seen:
        if place < len(one.numbers):
            others = one.numbers[:place] + one.numbers[place + 1 :]
            by_offset[one.numbers[place] - one.page, others].append(one)
    found: set[int] = set()
    for same in by_offset.values():
        if len({one.page for one in same}) >= needed:
            found.update(one.line_id for one in same)
    return found
