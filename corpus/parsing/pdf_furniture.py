"""Running headers, footers and page numbers: what stands at the same place on page after page.

A short number is never enough. Words count as repeated when they stand at the same height on several pages,
or when they differ only in one number that counts the pages. A row is furniture when all of it is repeated
and nothing that is not stands between it and the edge: the rows of a table that fills the page, and the
years and figures in them, stay.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from corpus.parsing.pdf_types import Line

_OUTER = 0.14
_OUTERMOST = 0.08
_MOST_ROWS = 5
_SAME_PLACE = 4.0
_SAME_ROW = 2.5
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
    line_id: int
    numbers: tuple[int, ...]


def find(pages: Sequence[PageLines]) -> set[int]:
    """Return the `id` of every line that is furniture."""
    repeated, counting = _repetitions(pages)
    found: set[int] = set()
    for page in pages:
        rows = _rows(page.lines)
        for edge_rows in (rows, rows[::-1]):
            found.update(_from_edge(page, edge_rows, repeated, counting))
    return found


def _from_edge(
    page: PageLines, rows: Sequence[list[Line]], repeated: set[int], counting: set[int]
) -> Iterator[int]:
    """Yield the ids of the furniture at one edge of the page, given the rows from there inwards."""
    passed_over = 0
    for place, row in enumerate(rows[:_MOST_ROWS]):
        distance = min(row[0].baseline, page.height - row[0].baseline) / page.height
        # Off the margin only a page number alone on its row can be meant.
        allowed = repeated | counting if distance < _OUTER else counting if place == 0 else set()
        if place + 1 < len(rows) and _names_columns(row, rows[place + 1]):
            return
        has_words = any(char.isalpha() for line in row for char in line.text)
        if all(id(line) in (allowed if has_words else allowed & counting) for line in row):
            yield from (id(line) for line in row)
        elif distance < _OUTERMOST and not passed_over:
            passed_over += 1
        else:
            return


def _names_columns(row: Sequence[Line], below: Sequence[Line]) -> bool:
    """Whether the row heads the columns of a table right below, which goes on over pages."""
    step = below[0].baseline - row[0].baseline
    starts = {round(line.left) for line in below}
    aligned = sum(bool(starts & {round(line.left) + near for near in (-2, -1, 0, 1, 2)}) for line in row)
    return 0 < step < 1.6 * row[0].size and len(row) > 1 and aligned > 1


def _rows(lines: Iterable[Line]) -> list[list[Line]]:
    found: list[list[Line]] = []
    for line in sorted(lines, key=lambda one: one.baseline):
        if found and line.baseline - found[-1][0].baseline <= _SAME_ROW:
            found[-1].append(line)
        else:
            found.append([line])
    return found


def _repetitions(pages: Sequence[PageLines]) -> tuple[set[int], set[int]]:
    """Return the ids of lines repeated word for word, and of those whose number counts the pages."""
    needed = 2 if len(pages) <= 4 else 3
    groups: dict[tuple[int, str], list[_Seen]] = defaultdict(list)
    for page in pages:
        for line in page.lines:
            words, numbers = _masked(line.text)
            groups[round(line.baseline / _SAME_PLACE), words].append(_Seen(page.number, id(line), numbers))
    repeated: set[int] = set()
    counting: set[int] = set()
    for (place, words), seen in list(groups.items()):
        # What stands near the border of two places belongs to both.
        together = [*seen, *groups.get((place + 1, words), ())]
        repeated.update(_word_for_word(together, needed))
        for position in range(max(len(one.numbers) for one in seen)):
            counting.update(_counting(together, position, needed))
    return repeated, counting


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


def _word_for_word(seen: Sequence[_Seen], needed: int) -> set[int]:
    by_numbers: dict[tuple[int, ...], list[_Seen]] = defaultdict(list)
    for one in seen:
        by_numbers[one.numbers].append(one)
    return _ids_on_enough_pages(by_numbers.values(), needed)


def _counting(seen: Sequence[_Seen], position: int, needed: int) -> set[int]:
    by_offset: dict[tuple[int, tuple[int, ...]], list[_Seen]] = defaultdict(list)
    for one in seen:
        if position < len(one.numbers):
            others = one.numbers[:position] + one.numbers[position + 1 :]
            by_offset[one.numbers[position] - one.page, others].append(one)
    return _ids_on_enough_pages(by_offset.values(), needed)


def _ids_on_enough_pages(groups: Iterable[Sequence[_Seen]], needed: int) -> set[int]:
    found: set[int] = set()
    for same in groups:
        if len({one.page for one in same}) >= needed:
            found.update(one.line_id for one in same)
    return found
