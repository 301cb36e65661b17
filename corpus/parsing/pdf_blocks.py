"""Paragraphs and tables of the pages to blocks: what is a heading, a caption, a list, a footnote, a reference."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from corpus.normalise import WordForms, clean, compose_accents, one_line, unwrap
from corpus.parsing.blocks import Block, BlockKind, Box, Reference
from corpus.parsing.pdf_kinds import Kinds
from corpus.parsing.pdf_paragraphs import ENTRY, NUMBERED_ITEM, Paragraph
from corpus.parsing.pdf_tables import Table
from corpus.parsing.pdf_types import Page
from corpus.parsing.references import is_reference_heading, to_references

Part = Paragraph | Table
_ENDS = (".", "?", "!", ":", "\u201d")
_SHORTEST_ROTATED = 20
_FEWEST_ENTRIES = 6
_LIST_NUMBER = re.compile(r"[\[(]?(\d{1,3})[.)\]]\s")
_YEAR = re.compile(r"\b(?:1[89]|20)\d{2}\b")
_TABLE_CAPTION = re.compile(r"(?:supplementary\s+|extended\s+data\s+)?tab(?:le|\.)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Content:
    """The blocks of a document, its reference list, and how many visible characters they hold."""

    blocks: tuple[Block, ...]
    references: tuple[Reference, ...]
    title: str
    characters: int
    rotated_characters: int


@dataclass(slots=True)
class _Item:
    """A part on its way to a block."""

    part: Part
    kind: BlockKind
    column: int
    level: int = 0
    is_label: bool = False


def build(pages: Sequence[tuple[Page, list[list[Part]]]], forms: WordForms) -> Content:
    """Return the content of the pages, whose columns come in reading order."""
    for page, columns in pages:
        _set_boxes(page, columns)
    paragraphs = [
        part for _, columns in pages for column in columns for part in column if isinstance(part, Paragraph)
    ]
    kinds = Kinds(paragraphs, {page.number: page.height for page, _ in pages})
    items = list(_items(pages, kinds))
    characters = sum(_characters(item.part) for item in items)
    items = list(_merged(items, kinds))
    body, entries = _split_references(items)
    if not entries:
        body, entries = _split_numbered_tail(body)
    blocks = [_block(item, forms) for item in _joined(body)]
    rotated = list(_rotated(pages))
    blocks = [block for block in _with_captions(blocks) if block.text or block.rows]
    return Content(
        blocks=(*blocks, *rotated),
        references=to_references(_running_text(entry, forms) for entry in entries),
        title=one_line(compose_accents(kinds.title)),
        characters=characters + sum(len("".join(block.text.split())) for block in rotated),
        rotated_characters=sum(len("".join(block.text.split())) for block in rotated),
    )


def _items(pages: Sequence[tuple[Page, list[list[Part]]]], kinds: Kinds) -> Iterator[_Item]:
    number = 0
    for _, columns in pages:
        for column in columns:
            number += 1
            for part in column:
                if isinstance(part, Table):
                    yield _Item(part, BlockKind.TABLE, number)
                else:
                    kind, level = kinds.of(part)
                    yield _Item(part, kind, number, level, is_label=kinds.is_label(part))


def _merged(items: Sequence[_Item], kinds: Kinds) -> Iterator[_Item]:
    """Yield the items with the lines of one heading, and the labels of one figure, put together."""
    before: _Item | None = None
    for item in items:
        if before is not None and _belong_together(before, item, kinds):
            assert isinstance(before.part, Paragraph) and isinstance(item.part, Paragraph)  # noqa: S101
            before.part = replace(
                before.part,
                lines=[*before.part.lines, *item.part.lines],
                boxes=_union(before.part.boxes, item.part.boxes),
            )
            continue
        if before is not None:
            yield before
        before = item
    if before is not None:
        yield before


def _belong_together(first: _Item, second: _Item, kinds: Kinds) -> bool:
    if not isinstance(first.part, Paragraph) or not isinstance(second.part, Paragraph):
        return False
    if first.column != second.column or first.kind is not second.kind:
        return False
    gap = second.part.top - first.part.bottom
    if first.kind is BlockKind.CODE:
        return gap < 2.5 * second.part.style.size
    if first.kind is BlockKind.HEADING:
        return kinds.is_same_heading(first.part, second.part) and gap < 0.9 * second.part.style.size
    return first.is_label and second.is_label


def _union(first: list[Box], second: list[Box]) -> list[Box]:
    """Return one box around the boxes of two parts of one place."""
    boxes = [*first, *second]
    return [
        Box(
            boxes[0].page,
            min(box.left for box in boxes),
            min(box.top for box in boxes),
            max(box.right for box in boxes),
            max(box.bottom for box in boxes),
        )
    ]


def _set_boxes(page: Page, columns: list[list[Part]]) -> None:
    for column in columns:
        for part in column:
            if isinstance(part, Paragraph):
                left = min(line.left for line in part.lines)
                right = max(line.right for line in part.lines)
                top = min(line.top for line in part.lines)
                bottom = max(line.bottom for line in part.lines)
                part.boxes = [_box(page, left, top, right, bottom)]
            else:
                part.boxes = [_box(page, part.left, part.top, part.right, part.bottom)]


def _box(page: Page, left: float, top: float, right: float, bottom: float) -> Box:
    def share(value: float, whole: float) -> float:
        return round(min(max(value / whole, 0.0), 1.0), 4) if whole > 0 else 0.0

    return Box(
        page.number,
        share(left, page.width),
        share(top, page.height),
        share(right, page.width),
        share(bottom, page.height),
    )


def _characters(part: Part) -> int:
    if isinstance(part, Table):
        return part.characters
    return sum(len("".join(span.text.split())) for line in part.lines for span in line.spans)


def _split_references(items: Sequence[_Item]) -> tuple[list[_Item], list[Paragraph]]:
    """Return the items without the reference lists, and the entries of those."""
    body: list[_Item] = []
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


def _split_numbered_tail(items: list[_Item]) -> tuple[list[_Item], list[Paragraph]]:
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


def _entry_number(item: _Item) -> int:
    """Return the number a list item begins with, 0 where it has none."""
    if item.kind is not BlockKind.LIST_ITEM or not isinstance(item.part, Paragraph):
        return 0
    found = _LIST_NUMBER.match(item.part.lines[0].text)
    return int(found[1]) if found is not None else 0


def _are_dated(entries: Sequence[Paragraph]) -> bool:
    dated = sum(any(_YEAR.search(line.text) for line in entry.lines) for entry in entries)
    return dated * 10 > len(entries) * 6


def _add_entry(entries: list[Paragraph], part: Paragraph) -> None:
    """Add a paragraph of the list: an entry, or the rest of the one a column or page broke."""
    text = part.lines[0].text
    if (
        entries
        and not _is_numbered(text)
        and _is_numbered(entries[-1].lines[0].text) == _list_is_numbered(entries)
    ):
        last = entries[-1]
        is_rest = (
            _list_is_numbered(entries) or part.lines[0].left > part.column_left + 4 or text[:1].islower()
        )
        if is_rest:
            entries[-1] = replace(last, lines=[*last.lines, *part.lines])
            return
    entries.append(part)


def _is_numbered(text: str) -> bool:
    return bool(ENTRY.match(text) or NUMBERED_ITEM.match(text))


def _list_is_numbered(entries: Sequence[Paragraph]) -> bool:
    return _is_numbered(entries[0].lines[0].text)


def _joined(items: Sequence[_Item]) -> Iterator[_Item]:
    """Yield the items with paragraphs that a column, a page or a figure broke made whole again."""
    taken: set[int] = set()
    for place, item in enumerate(items):
        if id(item) in taken:
            continue
        last = item
        while (rest := _continuation(items, items.index(last, place), item)) is not None:
            taken.add(id(rest))
            assert isinstance(item.part, Paragraph) and isinstance(rest.part, Paragraph)  # noqa: S101
            item.part = replace(
                item.part,
                lines=[*item.part.lines, *rest.part.lines],
                boxes=[*item.part.boxes, *rest.part.boxes],
            )
            last = rest
        yield item


_PASSED_OVER = (BlockKind.CAPTION, BlockKind.TABLE, BlockKind.FOOTNOTE)


def _continuation(items: Sequence[_Item], place: int, item: _Item) -> _Item | None:
    """Return the item that goes on where `item`, which ends at `place`, breaks off."""
    if item.kind not in (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM) or not isinstance(item.part, Paragraph):
        return None
    ending = item.part.lines[-1].text
    if ending.endswith(_ENDS):
        return None
    for other in items[place + 1 : place + 9]:
        if other.kind in _PASSED_OVER or other.is_label:
            continue
        if other.kind is not BlockKind.PARAGRAPH or not isinstance(other.part, Paragraph):
            return None
        if other.column == items[place].column and other.part.page == item.part.page:
            return None
        return other if _goes_on(item.part, other.part) else None
    return None


def _goes_on(first: Paragraph, second: Paragraph) -> bool:
    if abs(first.style.size - second.style.size) > 0.35:
        return False
    begin = second.lines[0].text[:1]
    if begin.islower() or first.lines[-1].text.endswith("-"):
        return True
    is_full = first.lines[-1].right > first.column_right - 2 * first.style.size
    is_flush = second.lines[0].left < second.column_left + 0.5 * second.style.size
    return is_full and is_flush and len(first.lines) > 1 and len(second.lines) > 1


def _block(item: _Item, forms: WordForms) -> Block:
    part = item.part
    if isinstance(part, Table):
        return Block(
            BlockKind.TABLE,
            rows=part.rows,
            header_rows=part.header_rows,
            page=part.page,
            boxes=tuple(part.boxes),
        )
    text = _code(part) if item.kind is BlockKind.CODE else _running_text(part, forms)
    return Block(item.kind, text, level=item.level, page=part.page, boxes=tuple(part.boxes))


def _running_text(part: Paragraph, forms: WordForms) -> str:
    return one_line(compose_accents(unwrap([line.text for line in part.lines], forms)))


def _code(part: Paragraph) -> str:
    """Return lines of code with their indents."""
    left = min(line.left for line in part.lines)
    width = max(0.5 * part.style.size, 1.0)
    return "\n".join(" " * round((line.left - left) / width) + clean(line.text) for line in part.lines)


def _with_captions(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks with each table's caption moved from its neighbour into the table."""
    kept = list(blocks)
    for place, block in enumerate(blocks):
        if block.kind is not BlockKind.TABLE:
            continue
        for neighbour in (place - 1, place + 1):
            if 0 <= neighbour < len(kept) and _is_table_caption(kept[neighbour]):
                caption = kept[neighbour]
                kept[place] = replace(block, text=caption.text, boxes=(*caption.boxes, *block.boxes))
                kept[neighbour] = replace(caption, text="")
                break
    return kept


def _is_table_caption(block: Block) -> bool:
    return block.kind is BlockKind.CAPTION and _TABLE_CAPTION.match(block.text) is not None


def _rotated(pages: Sequence[tuple[Page, list[list[Part]]]]) -> Iterator[Block]:
    """Yield what is set at an angle and long enough to say something; axis labels are not."""
    for page, _ in pages:
        for text in page.rotated:
            if len(text) >= _SHORTEST_ROTATED:
                yield Block(BlockKind.PARAGRAPH, one_line(text), page=page.number)
