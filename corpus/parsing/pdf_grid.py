"""Rows of cells to the grid of a table: which columns there are, and which cell stands in which."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from corpus.normalise import one_line
from corpus.parsing.pdf_types import Line

_NUMERIC = re.compile(
    r"[-+\u2212\u2013<>\u2264\u2265~\u00b1$\u20ac\u00a3(]*\d[\d.,:/%()\u00b1\u2212\u2013+*eEx\u00d7 -]*"
    r"[a-zA-Z%\u00b0]{0,3}\*{0,3}|[-\u2013\u2014\u2212]|n/?a",
    re.IGNORECASE,
)
_LEADERS = re.compile(r"(?:\.\s?){5,}")
_LONGEST_CELL = 60
_WIDEST_PROSE = 28
_NARROWEST_GAP = 2.0


@dataclass(frozen=True, slots=True)
class Row:
    """The cells on one baseline, left to right."""

    cells: list[Line]

    @property
    def top(self) -> float:
        return min(cell.top for cell in self.cells)

    @property
    def baseline(self) -> float:
        return max(self.cells, key=lambda cell: cell.size).baseline


def is_tabular(rows: Sequence[Row], *, can_be_single: bool = False, longest: int = _LONGEST_CELL) -> bool:
    """Whether the rows are those of a table rather than lines of text.

    `can_be_single` lets one row with one cell pass: the heading of a part of a table.
    """
    if not rows:
        return False
    if len(rows) == 1 and can_be_single:
        return len(rows[0].cells[0].text) < 2 * _LONGEST_CELL
    several = [row for row in rows if len(row.cells) > 1]
    if len(several) * 2 < len(rows):
        return False
    lengths = [len(cell.text) for row in several for cell in row.cells]
    if median(lengths) > longest or sum(
        _LEADERS.search(c.text) is not None for r in rows for c in r.cells
    ) * 2 > len(rows):
        return False
    # Two columns of prose between two rules of the page.
    return not (
        len(rows) > 8 and median(len(row.cells) for row in rows) <= 2 and median(lengths) > _WIDEST_PROSE
    )


def grid_rows(rows: Sequence[Row], intervals: Sequence[Sequence[Row]] | None) -> tuple[tuple[str, ...], ...]:
    """Return the cells by row and column. `intervals` holds the rows between two rules of a full grid each:
    what stands between two rules is one row."""
    bounds = _column_bounds(rows)
    placed = [_place(row, bounds) for row in rows]
    if intervals is not None:
        return _by_interval(placed, intervals)
    return tuple(tuple(cell) for cell in _continued(rows, placed))


def numeric_share(rows: Sequence[Sequence[str]]) -> float:
    """Return the share of filled cells that are numbers."""
    filled = [cell for row in rows for cell in row if cell]
    return sum(_NUMERIC.fullmatch(cell) is not None for cell in filled) / len(filled) if filled else 0.0


def _column_bounds(rows: Sequence[Row]) -> list[float]:
    """Return the x positions that divide the columns: where (nearly) no row has words."""
    cells = [cell for row in rows if len(row.cells) > 1 for cell in row.cells]
    left, right = min(cell.left for cell in cells), max(cell.right for cell in cells)
    widest = 0.6 * (right - left)
    cells = [cell for cell in cells if cell.right - cell.left < widest] or cells
    several = sum(len(row.cells) > 1 for row in rows)
    allowed = 0 if several < 6 else int(0.12 * several)
    steps = max(1, int(right - left) + 1)
    cover = [0] * (steps + 2)
    for cell in cells:
        cover[max(0, int(cell.left - left))] += 1
        cover[min(steps, int(cell.right - left + 0.999))] -= 1
    bounds: list[float] = []
    depth, opened = 0, None
    for x in range(steps + 1):
        depth += cover[x]
        if depth <= allowed:
            opened = x if opened is None else opened
        elif opened is not None:
            if opened > 0 and x - opened >= _NARROWEST_GAP:
                bounds.append(left + (opened + x) / 2)
            opened = None
    return bounds


def _place(row: Row, bounds: Sequence[float]) -> list[str]:
    placed = [""] * (len(bounds) + 1)
    for cell in row.cells:
        middle = (cell.left + cell.right) / 2
        first = sum(bound < cell.left + 1 for bound in bounds)
        centre = sum(bound < middle for bound in bounds)
        # A cell over several columns stands in the first of them.
        column = centre if first == centre or placed[first] else first
        text = one_line(cell.text)
        placed[column] = f"{placed[column]} {text}".strip()
    return placed


def _by_interval(
    placed: Sequence[list[str]], intervals: Sequence[Sequence[Row]]
) -> tuple[tuple[str, ...], ...]:
    found: list[tuple[str, ...]] = []
    start = 0
    for interval in intervals:
        group = placed[start : start + len(interval)]
        start += len(interval)
        if group:
            found.append(tuple(" ".join(filter(None, column)) for column in zip(*group, strict=True)))
    return tuple(found)


def _continued(rows: Sequence[Row], placed: Sequence[list[str]]) -> list[list[str]]:
    """Return the rows with the second lines of their cells put to the first."""
    if len(rows) < 2:
        return list(placed)
    steps = [second.baseline - first.baseline for first, second in pairwise(rows)]
    usual = median(steps)
    found = [placed[0]]
    for row, cells, step in zip(rows[1:], placed[1:], steps, strict=False):
        filled = sum(bool(cell) for cell in cells)
        is_tight = step < 0.85 * usual or (step <= 1.3 * row.cells[0].size and step <= usual)
        if not cells[0] and filled * 2 <= len(cells) and is_tight and _fits_under(found[-1], cells):
            found[-1] = [f"{above} {below}".strip() for above, below in zip(found[-1], cells, strict=True)]
        else:
            found.append(cells)
    return found


def _fits_under(above: Sequence[str], below: Sequence[str]) -> bool:
    """Whether every cell below continues words above rather than adding a value of its own."""
    return all(
        not lower or (upper and _NUMERIC.fullmatch(lower) is None)
        for upper, lower in zip(above, below, strict=True)
    )
