"""Rows of cells to the columns of a table: where the columns part, and which cell stands in which."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from corpus.normalise import one_line
from corpus.parsing.pdf_types import Line, Rule

_NUMERIC = re.compile(
    r"[-+\u2212\u2013<>\u2264\u2265~\u00b1$\u20ac\u00a3(]*\d[\d.,:/%()\u00b1\u2212\u2013+*eEx\u00d7 -]*"
    r"[a-zA-Z%\u00b0]{0,3}\*{0,3}|[-\u2013\u2014\u2212]|n/?a",
    re.IGNORECASE,
)
_LEADERS = re.compile(r"(?:\.\s?){5,}")
_LONGEST_CELL = 60
_WIDEST_PROSE = 28
_NARROWEST_GAP = 2.0
_NARROWEST_COLUMN = 4.0
_MOST_HEADERS = 3
_FEWEST_BELOW = 3


@dataclass(frozen=True, slots=True)
class Row:
    """The cells on one baseline, left to right."""

    cells: list[Line]

    @property
    def top(self) -> float:
        return min(cell.top for cell in self.cells)

    @property
    def size(self) -> float:
        return max(cell.size for cell in self.cells)

    @property
    def baseline(self) -> float:
        return max(self.cells, key=lambda cell: cell.size).baseline


@dataclass(slots=True, eq=False)
class Placed:
    """The cells of a row by column, and how wide each is; `crosses` says whether one spans columns."""

    row: Row
    cells: list[str]
    widths: list[float] = field(default_factory=list)
    crosses: bool = False

    @property
    def filled(self) -> list[int]:
        """The columns that hold something."""
        return [column for column, cell in enumerate(self.cells) if cell]


def is_number(text: str) -> bool:
    """Whether the cell holds a figure, or the dash that stands for none."""
    return _NUMERIC.fullmatch(text) is not None


def is_tabular(rows: Sequence[Row], *, longest: int) -> bool:
    """Whether the rows are those of a table rather than lines of text."""
    several = [row for row in rows if len(row.cells) > 1]
    return bool(several) and len(several) * 2 >= len(rows) and not is_prose(_texts(rows), longest=longest)


def _texts(rows: Sequence[Row]) -> list[list[str]]:
    return [[cell.text for cell in row.cells] for row in rows]


def is_prose(rows: Sequence[Sequence[str]], *, longest: int = _LONGEST_CELL) -> bool:
    """Whether lines with several cells are columns of running text, or a table of contents."""
    several = [filled for row in rows if len(filled := [cell for cell in row if cell]) > 1]
    lengths = [len(cell) for row in several for cell in row]
    if not lengths or median(lengths) > longest:
        return True
    with_leaders = sum(_LEADERS.search(cell) is not None for row in rows for cell in row)
    if with_leaders * 2 > len(rows):
        return True
    # Two columns of prose between two rules of the page.
    return len(several) > 8 and median(map(len, several)) <= 2 and min(_medians(several)) > _WIDEST_PROSE


def _medians(rows: Sequence[Sequence[str]]) -> tuple[float, float]:
    """Return how long the first and the last cell of the rows usually are."""
    return median(len(row[0]) for row in rows), median(len(row[-1]) for row in rows)


def numeric_share(rows: Sequence[Sequence[str]]) -> float:
    """Return the share of filled cells that are numbers."""
    filled = [cell for row in rows for cell in row if cell]
    return sum(is_number(cell) for cell in filled) / len(filled) if filled else 0.0


def column_bounds(rows: Sequence[Row], verticals: Sequence[Rule] = ()) -> list[float]:
    """Return the x positions that divide the columns: drawn ones, and where no row has words.

    Cells that lie over several cells of other rows span columns and do not count, nor do labels of the
    first rows that stand between the columns of all rows below.
    """
    several = [row for row in rows if len(row.cells) > 1]
    drawn = sorted({round(rule.left, 1) for rule in verticals})
    if not several:
        return _inner(drawn, rows)
    cells = _cells_of_columns(several, rows)
    left, right = min(cell.left for cell in cells), max(cell.right for cell in cells)
    if len(drawn) > 2 and drawn[0] < left + 1 and drawn[-1] > right - 1:
        return _apart(drawn[1:-1])
    white = _white(cells)
    for skipped in range(1, min(_MOST_HEADERS, len(several) - _FEWEST_BELOW) + 1):
        below = several[skipped:]
        white += [
            x
            for x in _white(_cells_of_columns(below, rows[rows.index(below[0]) :]))
            if _divides(below, x) and _is_new(white, x, below)
        ]
    taken = [x for x in white if not any(abs(x - line) < 12 and _is_free(cells, x, line) for line in drawn)]
    return _apart(sorted([*_inner(drawn, rows), *taken]))


def place(row: Row, bounds: Sequence[float]) -> Placed:
    """Return the row with its cells in their columns; one over several columns stands in the first."""
    count = len(bounds) + 1
    texts: list[list[str]] = [[] for _ in range(count)]
    edges: list[tuple[float, float]] = [(0.0, 0.0)] * count
    crosses = False
    for cell in _cut_at(row.cells, bounds):
        first, last = bisect_right(bounds, cell.left + 1), bisect_left(bounds, cell.right - 1)
        crosses = crosses or last > first
        centre = bisect_left(bounds, (cell.left + cell.right) / 2)
        column = centre if first == centre or texts[first] else first
        left, right = edges[column] if texts[column] else (cell.left, cell.right)
        edges[column] = min(left, cell.left), max(right, cell.right)
        texts[column].append(one_line(cell.text))
    return Placed(row, [" ".join(parts) for parts in texts], [right - left for left, right in edges], crosses)


def _cut_at(cells: Sequence[Line], bounds: Sequence[float]) -> Iterator[Line]:
    """Yield the cells, those cut that have a gap between words right where two columns part."""
    for cell in cells:
        inner = [x for x in bounds if cell.left + 1 < x < cell.right - 1]
        if not inner:
            yield cell
            continue
        parts = [part for span in cell.spans for part in span.parts(0.0)]
        groups = [[parts[0]]]
        for before, part in pairwise(parts):
            if any(before.right - 1 < x < part.left + 1 for x in inner):
                groups.append([])
            groups[-1].append(part)
        yield from (Line(group) for group in groups)


def covers_columns(row: Row, others: Sequence[Row]) -> bool:
    """Whether a cell of the row lies over several cells of most of the others."""
    spans = _extents([other for other in others if len(other.cells) > 1])
    return any(_spans_columns(cell, row, spans) for cell in row.cells)


def _extents(rows: Sequence[Row]) -> list[tuple[list[float], list[float], Row]]:
    return [([c.left for c in row.cells], [c.right for c in row.cells], row) for row in rows]


def _cells_of_columns(several: Sequence[Row], rows: Sequence[Row]) -> list[Line]:
    """Return the cells of `rows` that stand in one column each, as the rows with several cells show them."""
    usual = median(len(row.cells) for row in several)
    spans = _extents([row for row in several if len(row.cells) >= 0.7 * usual])
    kept = [
        cell
        for row in rows
        for cell in row.cells
        if not _spans_columns(cell, row, spans)
        and (len(row.cells) >= 0.7 * usual or _is_over_any(cell, row, spans))
    ]
    return kept or [cell for row in several for cell in row.cells]


def _spans_columns(cell: Line, own: Row, spans: Sequence[tuple[list[float], list[float], Row]]) -> bool:
    """Whether the cell lies over two or more cells of most full rows."""
    over = several = 0
    for lefts, rights, row in spans:
        if row is own:
            continue
        count = bisect_left(lefts, cell.right - 1) - bisect_right(rights, cell.left + 1)
        over += count > 0
        several += count > 1
    return several * 2 > over


def _is_over_any(cell: Line, own: Row, spans: Sequence[tuple[list[float], list[float], Row]]) -> bool:
    """Whether any full row has a cell where this one stands: a title may stand between two columns."""
    return any(
        bisect_left(lefts, cell.right - 1) > bisect_right(rights, cell.left + 1)
        for lefts, rights, row in spans
        if row is not own
    )


def _white(cells: Sequence[Line]) -> list[float]:
    """Return the middles of the strips that no cell touches."""
    bounds: list[float] = []
    reach = -1e9
    for cell in sorted(cells, key=lambda one: one.left):
        if reach > -1e9 and cell.left - reach >= _NARROWEST_GAP:
            bounds.append((reach + cell.left) / 2)
        reach = max(reach, cell.right)
    return bounds


def _divides(rows: Sequence[Row], x: float) -> bool:
    """Whether most rows have words on both sides of `x`."""
    both = sum(row.cells[0].left < x < row.cells[-1].right for row in rows)
    return both * 2 >= len(rows)


def _is_new(white: Sequence[float], x: float, rows: Sequence[Row]) -> bool:
    """Whether words stand between `x` and every strip found so far."""
    cells = [cell for row in rows for cell in row.cells]
    return not any(_is_free(cells, x, other) for other in white)


def _is_free(cells: Sequence[Line], x: float, line: float) -> bool:
    """Whether no cell stands between a white strip and a drawn line: they part the same two columns."""
    low, high = sorted((x, line))
    return not any(low < (cell.left + cell.right) / 2 < high for cell in cells)


def _inner(drawn: Sequence[float], rows: Sequence[Row]) -> list[float]:
    left = min(cell.left for row in rows for cell in row.cells)
    right = max(cell.right for row in rows for cell in row.cells)
    return [x for x in drawn if left < x < right]


def _apart(bounds: Sequence[float]) -> list[float]:
    """Return the bounds without those that leave no room for a word, which double rules make."""
    kept: list[float] = []
    for x in bounds:
        if not kept or x - kept[-1] >= _NARROWEST_COLUMN:
            kept.append(x)
    return kept
