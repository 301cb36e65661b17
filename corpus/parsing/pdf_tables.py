"""Tables of a page: between horizontal rules, or by rows whose cells keep their columns.

What is not surely a table stays text: every line goes either into a table or back to the caller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from corpus.parsing.blocks import Box
from corpus.parsing.pdf_grid import Row, grid_rows, is_tabular, numeric_share
from corpus.parsing.pdf_lines import rows
from corpus.parsing.pdf_paragraphs import BULLET, CAPTION, ENTRY
from corpus.parsing.pdf_types import Line, Rule

_SAME_EDGE = 5.0
_SHORTEST_RULE = 60.0
_CELL_GAP = 0.95
_FEWEST_UNRULED = 3
_LOWEST_ROW = 15.0


@dataclass(slots=True, eq=False)
class Table:
    """A table where it stands on the page."""

    rows: tuple[tuple[str, ...], ...]
    header_rows: int
    page: int
    left: float
    top: float
    right: float
    bottom: float
    characters: int
    boxes: list[Box] = field(default_factory=list)
    baseline: float = field(init=False)

    def __post_init__(self) -> None:
        self.baseline = self.bottom

    @property
    def text(self) -> str:
        """The words of the table, for whoever weighs it beside lines."""
        return " ".join(cell for row in self.rows for cell in row)


def ruled(lines: Sequence[Line], rules: Sequence[Rule], page: int) -> tuple[list[Table], list[Line]]:
    """Return the tables that horizontal rules of one length enclose, and the lines outside of them."""
    tables: list[Table] = []
    rest = list(lines)
    for group in _rule_groups(rules):
        for stack in _stacks(group, rest):
            table, rest = _enclosed(stack, rest, page)
            tables.extend([table] if table is not None else [])
    return tables, rest


def unruled(lines: Sequence[Line], page: int) -> Iterator[Table | list[Line]]:
    """Yield the rows of a column in order, those that make up a table as one."""
    waiting: list[Line] = []
    place = 0
    while place < len(lines):
        end = _end_of_run(lines, place)
        table = _aligned(lines[place:end], lines[max(0, place - 3) : place], page) if end > place else None
        if table is None:
            waiting.extend(lines[place : max(end, place + 1)])
        else:
            if waiting:
                yield waiting
            waiting = []
            yield table
        place = max(end, place + 1)
    if waiting:
        yield waiting


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
    stack = [group[0]]
    for upper, lower in pairwise(group):
        between = _rows_between(upper, lower, lines)
        is_double = not between and lower.top - upper.top < _LOWEST_ROW
        if is_double or is_tabular(between, can_be_single=True):
            stack.append(lower)
            continue
        if len(stack) > 1:
            yield stack
        stack = [lower]
    if len(stack) > 1:
        yield stack


def _inside(line: Line, upper: Rule, lower: Rule) -> bool:
    middle = (line.top + line.bottom) / 2
    return (
        upper.top - 1 < middle < lower.top + 1 and line.left > upper.left - 8 and line.right < upper.right + 8
    )


def _rows_between(upper: Rule, lower: Rule, lines: Sequence[Line]) -> list[Row]:
    return _to_rows([line for line in lines if _inside(line, upper, lower)])


def _to_rows(lines: Sequence[Line]) -> list[Row]:
    found = rows([span for line in lines for span in line.spans])
    return [Row(Line(list(row)).cells(_CELL_GAP)) for row in found]


def _enclosed(stack: Sequence[Rule], lines: list[Line], page: int) -> tuple[Table | None, list[Line]]:
    stack = _without_caption(stack, lines)
    inside = [line for line in lines if _inside(line, stack[0], stack[-1])]
    intervals = [_rows_between(upper, lower, inside) for upper, lower in pairwise(stack)]
    intervals = [interval for interval in intervals if interval]
    every = [row for interval in intervals for row in interval]
    if len(every) < 2 or not is_tabular(every) or _is_listing(inside):
        return None, lines
    is_gridded = len(intervals) > 3 and len(every) <= 2.6 * len(intervals)
    cells = grid_rows(every, intervals if is_gridded else None)
    if len(cells) < 2 or len(cells[0]) < 2 or (len(stack) == 2 and not _holds_data(cells)):
        return None, lines
    header = len(intervals[0]) if len(stack) > 2 and len(intervals[0]) < len(every) and not is_gridded else 1
    taken = {id(line) for line in inside}
    table = Table(
        rows=cells,
        header_rows=min(header, len(cells) - 1),
        page=page,
        left=stack[0].left,
        top=stack[0].top,
        right=stack[0].right,
        bottom=stack[-1].top,
        characters=_characters(inside),
    )
    return table, [line for line in lines if id(line) not in taken]


def _without_caption(stack: Sequence[Rule], lines: Sequence[Line]) -> Sequence[Rule]:
    """Return the rules without the one above the table's caption, which is no row."""
    first = [line for line in lines if _inside(line, stack[0], stack[1])] if len(stack) > 2 else []
    return stack[1:] if first and CAPTION.match(min(first, key=lambda line: line.top).text) else stack


def _is_listing(lines: Sequence[Line]) -> bool:
    """Whether the lines are a program with its line numbers."""
    total = sum(len(line.text) for line in lines)
    return sum(len(span.text) for line in lines for span in line.spans if span.style.mono) > 0.5 * total


def _counts_lines(cells: Sequence[Sequence[str]]) -> bool:
    """Whether the first column numbers the rows, as a listing does, and the second holds no figures."""
    numbers = [int(row[0]) for row in cells if row[0].isdigit() and len(row[0]) < 5]
    is_counting = len(numbers) * 10 > len(cells) * 7 and numbers == list(
        range(numbers[0], numbers[0] + len(numbers))
    )
    return is_counting and numeric_share([row[1:] for row in cells]) < 0.3


def _holds_data(cells: Sequence[Sequence[str]]) -> bool:
    """Whether rows between only two rules, which may be the frame of a figure, are more than its labels."""
    return len(cells) > 3 or numeric_share(cells) > 0.2


def _characters(lines: Sequence[Line]) -> int:
    return sum(len("".join(span.text.split())) for line in lines for span in line.spans)


def _end_of_run(lines: Sequence[Line], start: int) -> int:
    """Return the place behind the rows with cells from `start` on; one row without may stand between."""
    end = place = start
    while place < len(lines) and place - end < 2:
        line = lines[place]
        if place > start and line.baseline - lines[place - 1].baseline > 3.2 * line.size:
            break
        if len(line.cells(_CELL_GAP)) > 1 and not _is_text_with_mark(line):
            end = place + 1
        elif place == start:
            break
        place += 1
    return end


def _is_text_with_mark(line: Line) -> bool:
    """Whether the line is a list item or reference, whose mark stands apart, or half an equation."""
    math = sum(len(span.text) for span in line.spans if span.style.math)
    return bool(BULLET.match(line.text) or ENTRY.match(line.text)) or math > 0.3 * len(line.text)


def _aligned(lines: Sequence[Line], above: Sequence[Line], page: int) -> Table | None:
    """Return the table that the rows are, or None when their cells keep no columns."""
    if len(lines) < _FEWEST_UNRULED or _is_listing(lines):
        return None
    found = [Row(line.cells(_CELL_GAP)) for line in lines]
    is_announced = any(CAPTION.match(line.text) and line.text.lower().startswith("tab") for line in above)
    if not is_tabular(found, longest=30 if not is_announced else 60):
        return None
    cells = grid_rows(found, None)
    columns = len(cells[0]) if cells else 0
    filled = [sum(bool(row[column]) for row in cells) / len(cells) for column in range(columns)]
    if columns == 2 and not is_announced and _counts_lines(cells):
        return None
    if columns < 2 or min(filled) < (0.25 if is_announced else 0.5):
        return None
    if not is_announced and (numeric_share(cells) < 0.3 or len(cells) < 4 - (columns > 3)):
        return None
    return Table(
        rows=cells,
        header_rows=1,
        page=page,
        left=min(line.left for line in lines),
        top=lines[0].top,
        right=max(line.right for line in lines),
        bottom=lines[-1].bottom,
        characters=_characters(lines),
    )
