"""The reference list of a PDF: its entries put together, from a heading or from their numbers and years."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from corpus.parsing.blocks import BlockKind
from corpus.parsing.pdf_items import Item
from corpus.parsing.pdf_paragraphs import ENTRY, NUMBERED_ITEM, Paragraph
from corpus.parsing.references import is_reference_heading

_FEWEST_ENTRIES = 6
_HANGING = (4.0, 60.0)  # how far, in points, the further lines of an entry stand in
_LIST_NUMBER = re.compile(r"[\[(]?(\d{1,3})[.)\]]\s")
_YEAR = re.compile(r"\b(?:1[89]|20)\d{2}\b")


def split_references(items: Sequence[Item]) -> tuple[list[Item], list[Paragraph]]:
    """Return the items without the reference list, and its entries."""
    body, entries = _split_headed(items)
    return (body, entries) if entries else _split_numbered_tail(body)


def _split_headed(items: Sequence[Item]) -> tuple[list[Item], list[Paragraph]]:
    """Return the items without the reference lists, and the entries of those."""
    body: list[Item] = []
    entries: list[Paragraph] = []
    level = 0
    for item in items:
        if item.kind is BlockKind.HEADING and isinstance(item.part, Paragraph):
            if is_reference_heading(" ".join(line.text for line in item.part.lines)):
                level = item.level
                continue
            if level and item.level <= level:
                level = 0
        if (
            level
            and isinstance(item.part, Paragraph)
            and item.kind not in (BlockKind.HEADING, BlockKind.CAPTION)
        ):
            _add_entry(entries, item.part)
        else:
            body.append(item)
    if not any(item.kind is not BlockKind.HEADING for item in body):
        return list(items), []
    return body, entries


def _split_numbered_tail(items: list[Item]) -> tuple[list[Item], list[Paragraph]]:
    """Return the items without a numbered list of dated entries in small type, which needs no heading."""
    numbers = [(place, _entry_number(item)) for place, item in enumerate(items)]
    starts = [place for place, number in numbers if number == 1]
    for start in reversed(starts):
        run = [place for place, _ in numbers[start:] if _entry_number(items[place])]
        expected = 1
        last = start
        for place in run:
            if _entry_number(items[place]) == expected:
                expected, last = expected + 1, place
        entries = [item.part for item in items[start : last + 1] if isinstance(item.part, Paragraph)]
        if expected - 1 >= _FEWEST_ENTRIES and _are_dated(entries):
            found: list[Paragraph] = []
            for entry in entries:
                _add_entry(found, entry)
            return [*items[:start], *items[last + 1 :]], found
    return items, []


def _entry_number(item: Item) -> int:
    """Return the number a list item begins with, 0 where it has none."""
    if item.kind is not BlockKind.LIST_ITEM or not isinstance(item.part, Paragraph):
        return 0
    found = _LIST_NUMBER.match(item.part.lines[0].text)
    return int(found[1]) if found is not None else 0


def _are_dated(entries: Sequence[Paragraph]) -> bool:
    dated = sum(any(_YEAR.search(line.text) for line in entry.lines) for entry in entries)
    return dated * 10 > len(entries) * 6


def _add_entry(entries: list[Paragraph], part: Paragraph) -> None:
    """Add a paragraph of the list: an entry, or the rest of the one a column, a page or an indent broke."""
    is_entry = not entries or _is_numbered(part.lines[0].text) or not _is_rest(entries, part)
    if is_entry:
        entries.append(part)
    else:
        entries[-1] = replace(entries[-1], lines=[*entries[-1].lines, *part.lines])


def _is_rest(entries: Sequence[Paragraph], part: Paragraph) -> bool:
    """Whether `part` goes on with the last entry: no number in a numbered list, else hanging below it."""
    before, line = entries[-1], part.lines[0]
    if _is_numbered(entries[0].lines[0].text) or line.text[:1].islower():
        return True
    indent = line.left - (before.lines[0].left if before.page == part.page else part.column_left)
    return _HANGING[0] < indent < _HANGING[1]


def _is_numbered(text: str) -> bool:
    return bool(ENTRY.match(text) or NUMBERED_ITEM.match(text))
