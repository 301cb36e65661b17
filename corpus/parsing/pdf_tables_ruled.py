"""Tables between horizontal rules: what two or more rules of one length enclose, cut by all rules inside."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from corpus.parsing.pdf_grid import (
    Placed,
    Row,
    column_bounds,
    covers_columns,
    is_number,
    is_prose,
    numeric_share,
    place,
)
from corpus.parsing.pdf_paragraphs import CAPTION
from corpus.parsing.pdf_table_rows import to_rows
from corpus.parsing.pdf_tables import CELL_GAP, FINE_GAP, Table, characters, is_listing, stands_in, to_cells
from corpus.parsing.pdf_types import Line, Rule

_SAME_EDGE = 5.0
_SHORTEST_RULE = 60.0
_LOWEST_ROW = 15.0
_FULL_WIDTH = 0.62
_BESIDE = 8.0
_MOST_HEADER_LINES = 3
_LONGEST_ROW = 240
_LONGEST_CELL = 150
_PROGRAM = re.compile(r"(?:algorithm|listing|code|procedure|program)\s+\d", re.IGNORECASE)


def ruled(lines: Sequence[Line], rules: Sequence[Rule], page: int) -> tuple[list[Table], list[Line]]:
    """Return the tables that horizontal rules of one length enclose, and the lines outside of them."""
    tables: list[Table] = []
    rest = list(lines)
    for group in _rule_groups(rules):
        for stack in _stacks(group, rest):
            if _holds_program(stack, rest):
                continue
            region = _Region.of(_without_caption(stack, rest), rules, rest)
            table = region.table(page) if region is not None else None
            if table is not None:
                tables.append(table)
                rest = [line for line in rest if not stands_in(table, line)]
    return tables, rest


def _rule_groups(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Return the horizontal rules that share both ends, top to bottom."""
    groups: list[list[Rule]] = []
    flat = [rule for rule in rules if rule.is_horizontal and rule.right - rule.left >= _SHORTEST_RULE]
    for rule in sorted(flat, key=lambda one: one.top):
        group = next((one for one in groups if _same_ends(one[0], rule)), None)
        if group is None:
            groups.append([rule])
        elif rule.top - group[-1].top > 3:
            group.append(rule)
    return [group for group in groups if len(group) > 1]


def _same_ends(first: Rule, second: Rule) -> bool:
    return abs(first.left - second.left) < _SAME_EDGE and abs(first.right - second.right) < _SAME_EDGE


def _stacks(group: Sequence[Rule], lines: Sequence[Line]) -> Iterator[list[Rule]]:
    """Yield runs of rules with nothing but table rows between them."""
    stack, gathered = [group[0]], list[Row]()
    for upper, lower in pairwise(group):
        between = to_cells([line for line in lines if _inside(line, upper, lower)], FINE_GAP)
        is_double = not between and lower.top - upper.top < _LOWEST_ROW
        is_broken = any(_breaks(line, upper, lower, is_first=not gathered) for line in lines)
        if is_double or (not is_broken and _may_be_rows(between, gathered, lower.right - lower.left)):
            stack.append(lower)
            gathered += between
            continue
        if len(stack) > 1:
            yield stack
        stack, gathered = [lower], []
    if len(stack) > 1:
        yield stack


def _breaks(line: Line, upper: Rule, lower: Rule, *, is_first: bool) -> bool:
    """Whether a line between two rules ends the table: it is wider than they are, or the next caption."""
    if not upper.top - 1 < (line.top + line.bottom) / 2 < lower.top + 1:
        return False
    if _inside(line, upper, lower):
        return not is_first and CAPTION.match(line.text) is not None
    shared = min(line.right, upper.right) - max(line.left, upper.left)
    return shared > 0.5 * (upper.right - upper.left)


def _may_be_rows(between: Sequence[Row], gathered: Sequence[Row], width: float) -> bool:
    """Whether what stands between two rules may be rows below those gathered, rather than running text."""
    if not between:
        return False
    if len(between) == 1:
        return sum(len(cell.text) for cell in between[0].cells) < _LONGEST_ROW
    bounds = column_bounds([*gathered, *between])
    if not bounds and not gathered:
        return False
    if len(gathered) > 2:
        text = sum(_words(row) > _FULL_WIDTH * width and covers_columns(row, gathered) for row in between)
    else:
        text = sum(_is_text_line(place(row, bounds), width) for row in between)
    return text * 3 <= len(between) or (text == 1 and len(between) == 2)


def _is_text_line(placed: Placed, width: float) -> bool:
    """Whether the row is a line of running text: it covers most of the width, and the columns with it."""
    return _words(placed.row) > _FULL_WIDTH * width and (placed.crosses or len(placed.filled) == 1)


def _words(row: Row) -> float:
    """Return how wide the words of the row are together."""
    return sum(cell.right - cell.left for cell in row.cells)


def _inside(line: Line, upper: Rule, lower: Rule) -> bool:
    middle = (line.top + line.bottom) / 2
    is_beside = line.left > upper.left - _BESIDE and line.right < upper.right + _BESIDE
    return upper.top - 1 < middle < lower.top + 1 and is_beside


def _holds_program(stack: Sequence[Rule], lines: Sequence[Line]) -> bool:
    """Whether the rules enclose an algorithm or a listing, which says so in or right above its frame."""
    reach = 2 * _LOWEST_ROW
    near = [line for line in lines if stack[0].top - reach < line.baseline < stack[0].top + reach]
    return any(
        _PROGRAM.match(line.text) and stack[0].left - _BESIDE < line.left < stack[0].right for line in near
    )


def _without_caption(stack: Sequence[Rule], lines: Sequence[Line]) -> Sequence[Rule]:
    """Return the rules without the one above the table's caption, which is no row."""
    first = [line for line in lines if _inside(line, stack[0], stack[1])] if len(stack) > 2 else []
    return stack[1:] if first and CAPTION.match(min(first, key=lambda line: line.top).text) else stack


@dataclass(slots=True)
class _Region:
    """What stands between the first and the last rule of a table."""

    stack: Sequence[Rule]
    inside: list[Line]
    around: Sequence[Line]
    rows: list[Row]
    bounds: list[float]
    parting: list[float]
    verticals: list[Rule]

    @classmethod
    def of(cls, stack: Sequence[Rule], rules: Sequence[Rule], lines: Sequence[Line]) -> _Region | None:
        """Return the region with its rows and columns, None where it holds no table."""
        inside = [line for line in lines if _inside(line, stack[0], stack[-1])]
        if not inside or is_listing(inside):
            return None
        found = to_cells(inside, FINE_GAP)
        verticals = _verticals(stack, rules)
        bounds = column_bounds(found, verticals)
        rows = _without_titles(found, bounds, stack[0].right - stack[0].left)
        if len(rows) < len(found) and rows:
            bounds = column_bounds(rows, verticals)
        if not rows or not bounds:
            return None
        return cls(stack, inside, lines, rows, bounds, _parting(stack, rules, inside), verticals)

    def table(self, page: int) -> Table | None:
        """Return the table, None where its rows are not those of one."""
        above = self._header_above()
        if above:
            self.bounds = column_bounds([*above, *self.rows], self.verticals)
        intervals = list(self._intervals())
        if above:
            intervals.insert(0, [place(row, self.bounds) for row in above])
        if sum(len(interval) for interval in intervals) < 2:
            return None
        has_header = bool(above) or self._begins_with_labels(intervals)
        cells, header_rows = to_rows(intervals, has_header=has_header)
        if not self._is_table(cells):
            return None
        top = above[0].top if above else min(self.stack[0].top, self.rows[0].top)
        if self.rows[0].top - self.stack[0].top > _LOWEST_ROW:
            top = self.rows[0].top
        bottom = self.stack[-1].top
        if bottom - max(cell.bottom for cell in self.rows[-1].cells) > _LOWEST_ROW:
            bottom = max(cell.bottom for cell in self.rows[-1].cells)
        table = Table(
            rows=cells,
            header_rows=header_rows,
            page=page,
            left=self.stack[0].left,
            top=top,
            right=self.stack[0].right,
            bottom=bottom,
            characters=0,
            lines=[*above, *self.rows],
        )
        table.characters = characters([line for line in self.around if stands_in(table, line)])
        return table

    def _intervals(self) -> Iterator[list[Placed]]:
        """Yield the lines between each two rules."""
        current: list[Placed] = []
        limits = iter(self.parting)
        limit = next(limits, 1e9)
        for row in self.rows:
            middle = (row.top + max(cell.bottom for cell in row.cells)) / 2
            while middle > limit:
                if current:
                    yield current
                current = []
                limit = next(limits, 1e9)
            current.append(place(row, self.bounds))
        if current:
            yield current

    def _begins_with_labels(self, intervals: Sequence[Sequence[Placed]]) -> bool:
        """Whether the lines above the first inner rule are the headers."""
        if len(intervals) < 2 or len(intervals[0]) > 6:
            return False
        first = [cell for line in intervals[0] for cell in line.cells if cell]
        return sum(is_number(cell) for cell in first) < max(1, 0.3 * len(first))

    def _header_above(self) -> list[Row]:
        """Return the lines right above the first rule that name the columns, as on a shaded band."""
        top = self.stack[0]
        reach = 1.6 * self.rows[0].size
        near = [
            line
            for line in self.around
            if -4 * reach < line.bottom - top.top < 2
            and line.left > top.left - 8
            and line.right < top.right + 8
        ]
        found: list[Row] = []
        edge = top.top
        for row in reversed(to_cells(near, FINE_GAP)):
            bottom = max(cell.bottom for cell in row.cells)
            if edge - bottom > (reach if not found else 0.4 * row.size) or len(found) >= _MOST_HEADER_LINES:
                break
            placed = place(row, self.bounds)
            is_spanning = covers_columns(row, self.rows)
            is_labels = len(placed.filled) * 2 >= len(placed.cells) and not is_spanning
            if not is_labels and not (found and len(placed.filled) > 1):
                break
            if len(placed.filled) < 2 or CAPTION.match(row.cells[0].text):
                break
            found.insert(0, row)
            edge = row.top
        return found

    def _is_table(self, cells: Sequence[Sequence[str]]) -> bool:
        if len(cells) < 2 or len(cells[0]) < 2:
            return False
        if sum(sum(map(bool, row)) > 1 for row in cells) * 5 < 2 * len(cells):
            return False
        filled = [cell for row in cells for cell in row if cell]
        if sum(any(map(str.isalnum, cell)) for cell in filled) * 5 < 3 * len(filled):
            return False
        placed = [place(row, self.bounds) for row in self.rows]
        if len(self.parting) < 3 and is_prose([line.cells for line in placed]):
            return False
        if len(self.stack) == 2 and max(map(len, filled)) > _LONGEST_CELL and len(cells) > 2:
            return False
        # Rows between only two rules may be the labels in the frame of a figure.
        return len(self.stack) > 2 or len(cells) > 3 or numeric_share(cells) > 0.2 or _is_wordy(cells)


def _is_wordy(cells: Sequence[Sequence[str]]) -> bool:
    return all(sum(map(bool, row)) > 1 for row in cells) and max(map(len, cells[-1])) > 40


def _verticals(stack: Sequence[Rule], rules: Sequence[Rule]) -> list[Rule]:
    """Return the vertical rules that run through at least half of the table."""
    top, bottom = stack[0].top, stack[-1].top
    return [
        rule
        for rule in rules
        if not rule.is_horizontal
        and stack[0].left - _BESIDE < rule.left < stack[0].right + _BESIDE
        and min(rule.bottom, bottom) - max(rule.top, top) > 0.5 * (bottom - top)
    ]


def _parting(stack: Sequence[Rule], rules: Sequence[Rule], inside: Sequence[Line]) -> list[float]:
    """Return the heights at which a rule parts rows, shorter rules over some columns included."""
    left, right = stack[0].left - _BESIDE, stack[0].right + _BESIDE
    heights = {
        rule.top
        for rule in rules
        if rule.is_horizontal
        and stack[0].top + 2 < rule.top < stack[-1].top - 2
        and left < rule.left
        and rule.right < right
        and not any(_underlines(rule, line) for line in inside)
    }
    return sorted(heights)


def _underlines(rule: Rule, line: Line) -> bool:
    """Whether the rule is a stroke under words rather than under a row."""
    is_close = 0 < rule.top - line.baseline < 0.35 * line.size
    return is_close and any(
        abs(span.left - rule.left) < 2.5 and abs(span.right - rule.right) < 2.5 for span in line.spans
    )


def _without_titles(rows: Sequence[Row], bounds: Sequence[float], width: float) -> list[Row]:
    """Return the rows without full lines above and below, which are titles and notes in the frame."""
    kept = list(rows)
    usual = median(row.size for row in rows)
    while kept and _is_one_line(kept[0], bounds, width, 1.3 * usual):
        kept.pop(0)
    while kept and _is_one_line(kept[-1], bounds, width, 1.3 * usual):
        kept.pop()
    return kept


def _is_one_line(row: Row, bounds: Sequence[float], width: float, large: float) -> bool:
    """Whether the row is one line over the columns, or set far larger than they are."""
    if len(Line([span for cell in row.cells for span in cell.spans]).cells(CELL_GAP)) > 1:
        return False
    placed = place(row, bounds)
    # A line in a later column goes on with a cell of it, however wide that column is.
    goes_on = not placed.crosses and 0 not in placed.filled
    return (_is_text_line(placed, width) and not goes_on) or row.size > large
