"""Tables that no rules enclose: rows of a column whose cells keep their places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from corpus.parsing.pdf_grid import Row, column_bounds, is_prose, is_tabular, numeric_share, place
from corpus.parsing.pdf_lines import rows as rows_of
from corpus.parsing.pdf_paragraphs import BULLET, CAPTION, ENTRY
from corpus.parsing.pdf_table_rows import to_rows
from corpus.parsing.pdf_tables import CELL_GAP, FINE_GAP, Table, characters, is_listing, stands_in, to_cells
from corpus.parsing.pdf_types import Line

_FEWEST_ROWS = 3
_CAPTION_LINES = 4
_LONGEST_ANNOUNCED = 90
_LONG_CELL = 32
_EQUATION_NUMBER = re.compile(r"\(\d{1,3}(?:\.\d{1,3})?[a-z]?\)")


def unruled(lines: Sequence[Line], page: int) -> Iterator[Table | list[Line]]:
    """Yield the rows of a column in order, those that make up a table as one."""
    waiting: list[Line] = []
    at = 0
    while at < len(lines):
        table, end = _table_at(lines, at, page)
        if table is None:
            waiting.extend(lines[at : max(end, at + 1)])
        else:
            if waiting:
                yield waiting
            waiting = []
            yield table
        at = max(end, at + 1)
    if waiting:
        yield waiting


def across(lines: Sequence[Line], page: int) -> tuple[list[Table], list[Line]]:
    """Return the tables with a caption that have the whole width of a page, and the lines outside of them.

    They are found before the page is cut into columns, which may seem to part theirs.
    """
    rows = [Line(list(row)) for row in rows_of([span for line in lines for span in line.spans])]
    tables: list[Table] = []
    rest, at = list(lines), 0
    while at < len(rows):
        table, end = _table_at(rows, at, page, is_alone=True)
        if table is not None:
            tables.append(table)
            rest = [line for line in rest if not stands_in(table, line)]
        at = max(end, at + 1)
    return tables, rest


def _table_at(
    lines: Sequence[Line], start: int, page: int, *, is_alone: bool = False
) -> tuple[Table | None, int]:
    """Return the table that begins at `start`, and the place behind what was looked at.

    `is_alone` asks for one with a caption and with no running text beside.
    """
    is_announced = _is_announced(lines, start)
    end = _end_of_run(lines, start, singles=4 if is_announced else 1)
    if end <= start:
        return None, end
    if not is_announced:
        further = _end_of_run(lines, start, singles=4)
        if any(_names_table(line) for line in lines[further : further + 2]):
            is_announced, end = True, further
    if is_alone and not (is_announced and _has_short_cells(lines[start:end])):
        return None, end
    return _aligned(lines[start:end], page, is_announced=is_announced), end


def _has_short_cells(lines: Sequence[Line]) -> bool:
    """Whether few rows hold as much as a line of running text would."""
    long = sum(any(len(cell.text) > _LONG_CELL for cell in line.cells(CELL_GAP)) for line in lines)
    return long * 3 <= len(lines)


def _is_announced(lines: Sequence[Line], start: int) -> bool:
    """Whether the lines right above are the caption of a table."""
    below = lines[start]
    for line in reversed(lines[max(0, start - _CAPTION_LINES) : start]):
        if below.baseline - line.baseline > 3.2 * line.size:
            return False
        if _names_table(line):
            return True
        below = line
    return False


def _names_table(line: Line) -> bool:
    return (
        len(line.cells(CELL_GAP)) == 1
        and CAPTION.match(line.text) is not None
        and line.text.lower().startswith("tab")
    )


def _end_of_run(lines: Sequence[Line], start: int, *, singles: int) -> int:
    """Return the place behind the rows with cells from `start` on.

    Up to `singles` rows with one cell may stand between them, which is in one column where they are several.
    """
    end = at = start
    rows: list[Row] = []
    while at < len(lines) and at - end <= singles:
        line = lines[at]
        if at > start and line.baseline - lines[at - 1].baseline > 3.2 * line.size:
            break
        if at > start and CAPTION.match(line.text):
            break
        row = Row(line.cells(CELL_GAP))
        if len(row.cells) > 1 and not _is_text_with_mark(line):
            end = at + 1
            rows.append(row)
        elif at == start or (singles > 1 and place(row, column_bounds(rows)).crosses):
            break
        at += 1
    if singles > 1 and rows:
        bounds = column_bounds(rows)
        while end < len(lines) and _ends_cell(lines[end - 1], lines[end], bounds):
            end += 1
    return end


def _ends_cell(before: Line, line: Line, bounds: Sequence[float]) -> bool:
    """Whether the line is a further line of a cell of the row above."""
    placed = place(Row([line]), bounds)
    is_tight = line.baseline - before.baseline < 1.45 * line.size
    goes_on = line.text[:1].islower() or not placed.cells[0]
    return is_tight and not placed.crosses and goes_on and CAPTION.match(line.text) is None


def _is_text_with_mark(line: Line) -> bool:
    """Whether the line is a list item or reference, whose mark stands apart, or half an equation."""
    math = sum(len(span.text) for span in line.spans if span.style.math)
    return bool(BULLET.match(line.text) or ENTRY.match(line.text)) or math > 0.3 * len(line.text)


def _aligned(lines: Sequence[Line], page: int, *, is_announced: bool) -> Table | None:
    """Return the table that the rows are, or None when their cells keep no columns."""
    if len(lines) < _FEWEST_ROWS or is_listing(lines):
        return None
    coarse = [Row(line.cells(CELL_GAP)) for line in lines]
    is_likely = (
        not is_prose([[cell.text for cell in row.cells] for row in coarse], longest=_LONGEST_ANNOUNCED)
        if is_announced
        else is_tabular(coarse, longest=30)
    )
    if not is_likely:
        return None
    found = to_cells(lines, FINE_GAP) if is_announced else coarse
    bounds = column_bounds(found)
    if not bounds:
        return None
    cells, header_rows = to_rows([[place(row, bounds) for row in found]], has_header=False)
    if not is_announced and _has_raised_rows(found):
        return None
    if not (_is_announced_table(cells) if is_announced else _is_plain_table(cells)):
        return None
    return Table(
        rows=cells,
        header_rows=header_rows,
        page=page,
        left=min(line.left for line in lines),
        top=lines[0].top,
        right=max(line.right for line in lines),
        bottom=lines[-1].bottom,
        characters=characters(lines),
        lines=found,
    )


def _is_announced_table(cells: Sequence[Sequence[str]]) -> bool:
    several = sum(sum(map(bool, row)) > 1 for row in cells)
    return len(cells) > 1 and several * 2 >= len(cells)


def _has_raised_rows(found: Sequence[Row]) -> bool:
    """Whether rows of small figures stand above rows of words, as the marks of authors do."""
    largest = max(row.size for row in found)
    raised = sum(
        row.size < 0.8 * largest and not any(any(map(str.isalpha, cell.text)) for cell in row.cells)
        for row in found
    )
    return raised * 4 >= len(found)


def _is_plain_table(cells: Sequence[Sequence[str]]) -> bool:
    """Whether rows that no caption announces are surely a table: full columns, and figures in them."""
    columns = len(cells[0])
    filled = [sum(bool(row[column]) for row in cells) / len(cells) for column in range(columns)]
    if columns == 2 and _counts_lines(cells):
        return False
    if sum(_EQUATION_NUMBER.fullmatch(row[-1]) is not None for row in cells) * 3 > len(cells):
        return False
    if not any(any(map(str.isalnum, row[0])) for row in cells):
        return False
    return min(filled) >= 0.5 and numeric_share(cells) >= 0.3 and len(cells) >= 4 - (columns > 3)


def _counts_lines(cells: Sequence[Sequence[str]]) -> bool:
    """Whether the first column numbers the rows, as a listing does, and the second holds no figures."""
    counts = [row[0].rstrip(".:") for row in cells]
    numbers = [int(count) for count in counts if count.isdigit() and len(count) < 5]
    is_counting = len(numbers) * 10 > len(cells) * 7 and numbers == list(
        range(numbers[0], numbers[0] + len(numbers))
    )
    return is_counting and numeric_share([row[1:] for row in cells]) < 0.3
