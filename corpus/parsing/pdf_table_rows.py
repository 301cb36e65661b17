"""Lines of a table to its rows: which lines are further lines of the cells above them.

Drawn rules part rows. Between them a line goes on with the row above where it stands closer to it than rows
stand to each other, or where its cells go on with the words above: a cell was broken where its next word
would not have fitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from corpus.parsing.pdf_grid import Placed, is_number

_GOES_ON = (",", ";", "-", "\u2013", "/", "&", "(", "+", "=", "\u00b1", "\u00d7", "\u2264", "<")
_LONG_CELL = 12  # characters from which a column holds text that may be broken
_MOST_HEADER_LINES = 5

Cells = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Columns:
    """How wide the cells of each column can be, in points and in characters."""

    widest: list[float]
    longest: list[int]


def to_rows(intervals: Sequence[Sequence[Placed]], *, has_header: bool) -> tuple[tuple[Cells, ...], int]:
    """Return the rows, and how many of them are headers, from the lines between rules.

    `has_header` says that the lines of the first interval are headers.
    """
    lines = [line for interval in intervals for line in interval]
    columns = _measured(lines)
    groups = [list(_grouped(interval, columns)) for interval in intervals]
    if _are_rows(intervals, columns, has_header=has_header):
        header_rows = list(_header_rows(intervals[0])) if has_header else [list(intervals[0])]
        every = [*header_rows, *(list(interval) for interval in intervals[1:])]
        return tuple(_joined(group) for group in every), len(header_rows)
    header = 1
    if has_header:
        groups[0] = list(_header_rows(intervals[0]))
        header = len(groups[0])
        if header == 1 and len(groups) > 2 and _crosses(groups[0][0]) and len(groups[1]) == 1:
            header = 2
    else:
        count = _leading_labels(lines if len(groups) == 1 else intervals[0], columns)
        if count > 1:
            rest = intervals[0][count:]
            groups[0] = [*_header_rows(intervals[0][:count]), *_grouped(rest, columns)]
    found = tuple(_joined(group) for interval in groups for group in interval)
    return found, min(header, max(len(found) - 1, 0))


def _measured(lines: Sequence[Placed]) -> _Columns:
    count = len(lines[0].cells)
    widest, longest = [0.0] * count, [0] * count
    for line in lines:
        if line.crosses:
            continue
        for column in line.filled:
            widest[column] = max(widest[column], line.widths[column])
            longest[column] = max(longest[column], len(line.cells[column]))
    return _Columns(widest, longest)


def _joined(group: Sequence[Placed]) -> Cells:
    """Return the cells of lines that make up one row."""
    return tuple(" ".join(filter(None, cells)) for cells in zip(*(line.cells for line in group), strict=True))


def _are_rows(intervals: Sequence[Sequence[Placed]], columns: _Columns, *, has_header: bool) -> bool:
    """Whether a rule stands between any two rows, so that what stands between two rules is one row."""
    body = intervals[1:] if has_header else intervals
    several = [interval for interval in body if len(interval) > 1]
    if len(body) == 1 and has_header:
        return 0 not in {column for line in body[0][1:] for column in line.filled} and _is_one_row(
            body[0], columns
        )
    if len(intervals) < 3:
        return False
    # A cell centred beside a taller one may look like a row of its own; groups of rows have many.
    return sum(not _is_one_row(interval, columns) for interval in several) * 3 <= len(body)


def _is_one_row(lines: Sequence[Placed], columns: _Columns) -> bool:
    """Whether nothing says that a new row begins among the lines: a new label, a second figure."""
    texts = [""] * len(lines[0].cells)
    widths = [0.0] * len(texts)
    for line in lines:
        for column in line.filled:
            text, before = line.cells[column], texts[column]
            if before and is_number(text) and is_number(before) and not _is_aside(text):
                return False
            if before and column == 0 and not _may_go_on(before, widths[0], text, line, 0, columns):
                return False
            texts[column], widths[column] = text, line.widths[column]
    return True


def _grouped(lines: Sequence[Placed], columns: _Columns) -> Iterator[list[Placed]]:
    """Yield the lines of each row."""
    by_distance = _by_distance(lines, columns)
    if by_distance is not None:
        yield from by_distance
        return
    usual = _usual_step(lines)
    current: list[Placed] = []
    for line in lines:
        if current and _continues(current, line, columns, usual):
            current.append(line)
            continue
        if current:
            yield current
        current = [line]
    if current:
        yield current


def _usual_step(lines: Sequence[Placed]) -> float:
    steps = [second.row.baseline - first.row.baseline for first, second in pairwise(lines)]
    return median(steps) if steps else 0.0


def _by_distance(lines: Sequence[Placed], columns: _Columns) -> list[list[Placed]] | None:
    """Return the rows where rows stand further apart than the lines within them, else None."""
    steps = [second.row.baseline - first.row.baseline for first, second in pairwise(lines)]
    limit = _dividing_step(steps)
    if limit is None:
        return None
    groups = [[lines[0]]]
    for step, line in zip(steps, lines[1:], strict=True):
        if step > limit:
            groups.append([])
        groups[-1].append(line)
    joints = against = 0
    for group in groups:
        texts = [""] * len(lines[0].cells)
        widths = [0.0] * len(texts)
        for line in group:
            for column in line.filled:
                if texts[column]:
                    joints += 1
                    against += not _may_go_on(
                        texts[column], widths[column], line.cells[column], line, column, columns
                    )
                texts[column], widths[column] = line.cells[column], line.widths[column]
    several = sum(len(group) > 1 for group in groups)
    if len(groups) < 2 or not several or (joints and against * 4 > joints):
        return None
    return groups if joints or several < len(groups) else None


def _dividing_step(steps: Sequence[float]) -> float | None:
    """Return the step between lines from which a new row begins, where steps are of two clear kinds."""
    if len(steps) < 2:
        return None
    ordered = sorted(steps)
    ratio, place = max(
        (after / max(before, 0.1), place) for place, (before, after) in enumerate(pairwise(ordered))
    )
    low, high = ordered[place], ordered[place + 1]
    return (low + high) / 2 if ratio >= 1.15 and high - low >= 1.2 else None


def _continues(current: Sequence[Placed], line: Placed, columns: _Columns, usual: float) -> bool:
    """Whether the line goes on with the row that `current` holds."""
    step = line.row.baseline - current[-1].row.baseline
    if step > 1.45 * line.row.size or (step > 1.05 * usual + 0.5 and usual > 0) or line.crosses:
        return False
    missing = [column for column in current[0].filled if not line.cells[column]]
    if not missing or not line.filled:
        return False
    if len(line.filled) == 1 and line.filled[0] > 0 and len(current[0].filled) > 2:
        # One cell of words alone is no row of a table with several columns.
        text = line.cells[line.filled[0]]
        said = [one.cells[line.filled[0]] for one in current if one.cells[line.filled[0]]]
        return bool(said) and (not is_number(text) or said[-1].endswith(_GOES_ON))
    for column in line.filled:
        above = next((one for one in reversed(current) if one.cells[column]), None)
        if above is None or not _goes_on(above, line, column, columns):
            return False
    is_sparse = len(line.filled) * 2 <= len(line.cells)
    return is_sparse or all(
        columns.longest[column] >= _LONG_CELL or _is_aside(line.cells[column]) for column in line.filled
    )


def _goes_on(above: Placed, line: Placed, column: int, columns: _Columns) -> bool:
    text = line.cells[column]
    before = above.cells[column]
    if is_number(text) and not _is_aside(text) and not before.endswith(_GOES_ON):
        return False
    return _may_go_on(above.cells[column], above.widths[column], text, line, column, columns)


def _may_go_on(before: str, width: float, text: str, line: Placed, column: int, columns: _Columns) -> bool:
    """Whether `text` may be the next line of a cell that ends with `before`, which is `width` wide."""
    if _is_aside(text) or before.endswith(_GOES_ON) or text[0] in ")]":
        return True
    if is_number(text) and is_number(before):
        return False
    word = text.split(maxsplit=1)[0]
    word_width = line.widths[column] * len(word) / max(len(text), 1)
    is_full = width + 0.25 * line.row.size + word_width > columns.widest[column] - 0.3 * line.row.size
    return is_full or (text[0].islower() and width > 0.6 * columns.widest[column])


def _is_aside(text: str) -> bool:
    return text.startswith(("(", "["))


def _crosses(group: Sequence[Placed]) -> bool:
    return any(line.crosses for line in group)


def _header_rows(lines: Sequence[Placed]) -> Iterator[list[Placed]]:
    """Yield the lines of each row of the header: one row, or one above and one below spanning titles."""
    spanning = [place for place, line in enumerate(lines) if line.crosses]
    last = spanning[-1] + 1 if spanning else 0
    if 0 < last < len(lines) and any(len(line.filled) > 1 for line in lines[last:]):
        yield list(lines[:last])
        yield list(lines[last:])
    elif lines:
        yield list(lines)


def _leading_labels(lines: Sequence[Placed], columns: _Columns) -> int:
    """Return how many lines at the top hold labels only, above columns of figures."""
    numeric = [
        column
        for column in range(len(columns.widest))
        if sum(is_number(line.cells[column]) for line in lines if line.cells[column]) * 2
        > sum(bool(line.cells[column]) for line in lines) - 2
        and any(is_number(line.cells[column]) for line in lines)
    ]
    if len(numeric) * 2 < len(columns.widest):
        return 0
    for place, line in enumerate(lines[: _MOST_HEADER_LINES + 1]):
        if any(is_number(line.cells[column]) for column in numeric):
            return place
        if place and line.filled == [0]:
            return place
    return 0
