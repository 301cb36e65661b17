"""Tables as text, written and read back: one passage each, or pieces that each make sense alone. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from corpus.normalise import letter_count
from corpus.parsing.blocks import Block
from corpus.pieces import TokenCounter, runs_of

_ROWS_HANDED_OVER = 2
_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")


@dataclass(frozen=True, slots=True)
class TableView:
    """A table passage as cells again. `header` is empty for a table without header rows."""

    caption: str
    header: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class TableBody:
    """A table, or a piece of one, as text; `ranges` say which letters of the table it has, counted from 0."""

    text: str
    ranges: tuple[tuple[int, int], ...]


def table_bodies(
    table: Block, count: TokenCounter, *, max_tokens: int, overlap_tokens: int, max_bytes: int
) -> list[TableBody]:
    """Return a table as pipe-delimited text under its caption, in as few pieces as the bounds allow.

    Pieces are cut between rows. Each repeats caption and header and, when they fit into the overlap, the
    last two rows of the piece before. A row that is too long by itself is cut between words.
    """
    head, rows = _lines(table)
    whole = "\n".join([*head, *rows])
    if count(whole) <= max_tokens and len(whole.encode()) <= max_bytes:
        return [TableBody(whole, ((0, letter_count(whole)),))]
    # A head that leaves little room for rows is not worth repeating.
    if _cost(head, count) * 2 > max_tokens or _size(head) * 2 > max_bytes:
        head, rows = [], [*head, *rows]
    room, bytes_room = max_tokens - _cost(head, count), max_bytes - _size(head)
    lines = [
        run
        for row in rows
        for _, run in _bounded(row, count, max_tokens=room, max_bytes=bytes_room - 1)
        if run
    ]
    groups = _groups(lines, count, max_tokens=room, overlap_tokens=overlap_tokens, max_bytes=bytes_room)
    in_head = letter_count("\n".join(head))
    ends = list(accumulate(map(letter_count, lines), initial=in_head))
    return [
        TableBody("\n".join([*head, *lines[first:last]]), ((0, in_head), (ends[first], ends[last])))
        for first, last in groups
    ]


def _lines(table: Block) -> tuple[list[str], list[str]]:
    """Return the lines every piece repeats, and the rows."""
    caption = [table.text.strip(), ""] if table.text.strip() else []
    width = max(len(row) for row in table.rows)
    rows = [_row(row, width) for row in table.rows]
    header = rows[: table.header_rows]
    if header:
        header.append("|" + " --- |" * width)
    return caption + header, rows[table.header_rows :]


def _row(cells: Sequence[str], width: int) -> str:
    texts = [" ".join(cell.split()).replace("|", "\\|") for cell in cells]
    return "| " + " | ".join(texts + [""] * (width - len(texts))) + " |"


def _bounded(row: str, count: TokenCounter, *, max_tokens: int, max_bytes: int) -> list[tuple[str, str]]:
    if count(row) <= max_tokens and len(row.encode()) <= max_bytes:
        return [("", row)]
    return runs_of(row, count, max_tokens=max_tokens, max_bytes=max_bytes)


def _groups(
    rows: Sequence[str], count: TokenCounter, *, max_tokens: int, overlap_tokens: int, max_bytes: int
) -> list[tuple[int, int]]:
    """Return the first row of each piece and the one behind its last."""
    groups: list[tuple[int, int]] = []
    start = tokens = size = 0
    for place, row in enumerate(rows):
        row_tokens, row_size = count(row), len(row.encode()) + 1
        if place > start and (tokens + row_tokens > max_tokens or size + row_size > max_bytes):
            groups.append((start, place))
            handed = rows[place - _ROWS_HANDED_OVER : place] if place - start > _ROWS_HANDED_OVER else []
            cost = _cost(handed, count)
            too_much = cost + row_tokens > max_tokens or _size(handed) + row_size > max_bytes
            start = place if cost > overlap_tokens or too_much else place - len(handed)
            tokens, size = _cost(rows[start:place], count), _size(rows[start:place])
        tokens += row_tokens
        size += row_size
    return [*groups, (start, len(rows))] if rows else []


def _cost(lines: Sequence[str], count: TokenCounter) -> int:
    return sum(count(line) for line in lines)


def _size(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def table_of(text: str) -> TableView | None:
    """Read back a table written with bars, the caption above it; None for text that holds no table."""
    lines = [line.strip() for line in text.splitlines()]
    first = next((index for index, line in enumerate(lines) if line.startswith("|")), None)
    if first is None:
        return None
    caption = " ".join(line for line in lines[:first] if line)
    written = [line for line in lines[first:] if line]
    rule = next((index for index, line in enumerate(written) if _RULE.fullmatch(line)), 0)
    header = tuple(cells(line) for line in written[:rule])
    rows = tuple(cells(line) for line in written[rule:] if not _RULE.fullmatch(line))
    return TableView(caption, header, rows)


def cells(line: str) -> tuple[str, ...]:
    """Return the cells of a row written with bars."""
    inner = line.removeprefix("|").removesuffix("|") if line.startswith("|") else line
    return tuple(cell.strip().replace("\\|", "|") for cell in _BAR.split(inner))
