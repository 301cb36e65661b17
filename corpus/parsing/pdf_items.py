"""Parts of a PDF on their way to blocks: what belongs together is put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from corpus.parsing.blocks import BlockKind, Box, around
from corpus.parsing.pdf_kinds import Kinds
from corpus.parsing.pdf_paragraphs import Paragraph
from corpus.parsing.pdf_tables import Table

Part = Paragraph | Table
_ENDS = (".", "?", "!", ":", "\u201d")
_SHORT_CODE = 30
_PASSED_OVER = (BlockKind.CAPTION, BlockKind.TABLE, BlockKind.FOOTNOTE, BlockKind.CODE)


@dataclass(slots=True, eq=False)
class Item:
    """A part on its way to a block."""

    part: Part
    kind: BlockKind
    column: int
    level: int = 0
    is_label: bool = False


def put_together(items: Sequence[Item], kinds: Kinds) -> Iterator[Item]:
    """Yield the items with the lines of one heading, and the labels of one figure, put together."""
    before: Item | None = None
    for item in items:
        if before is not None and _is_rest_of_listing(before, item):
            item.kind, item.is_label = BlockKind.CODE, False
        if before is not None and _belong_together(before, item, kinds):
            assert isinstance(before.part, Paragraph)  # noqa: S101
            assert isinstance(item.part, Paragraph)  # noqa: S101
            before.part = replace(
                before.part,
                lines=[*before.part.lines, *item.part.lines],
                boxes=_as_one([*before.part.boxes, *item.part.boxes]),
            )
            continue
        if before is not None:
            yield before
        before = item
    if before is not None:
        yield before


def _belong_together(first: Item, second: Item, kinds: Kinds) -> bool:
    if not isinstance(first.part, Paragraph) or not isinstance(second.part, Paragraph):
        return False
    if first.column != second.column or first.kind is not second.kind:
        return False
    gap = second.part.top - first.part.bottom
    if first.kind is BlockKind.CODE:
        return gap < 2.5 * second.part.style.size
    if first.kind is BlockKind.HEADING:
        return kinds.is_same_heading(first.part, second.part)
    return first.is_label and second.is_label


def _is_rest_of_listing(before: Item, item: Item) -> bool:
    """Whether short lines right below a listing are its last ones, set in the type of its key words."""
    if before.kind is not BlockKind.CODE or item.kind is not BlockKind.PARAGRAPH:
        return False
    if not isinstance(before.part, Paragraph) or not isinstance(item.part, Paragraph):
        return False
    fonts = {span.style.font for line in before.part.lines for span in line.spans}
    own = {span.style.font for line in item.part.lines for span in line.spans}
    is_near = before.column == item.column and item.part.top - before.part.bottom < item.part.style.size
    return is_near and own <= fonts and all(len(line.text) < _SHORT_CODE for line in item.part.lines)


def _as_one(boxes: list[Box]) -> list[Box]:
    return [around(boxes)] if boxes else []


def made_whole(items: Sequence[Item]) -> Iterator[Item]:
    """Yield the items with paragraphs that a column, a page or a figure broke made whole again."""
    taken: set[int] = set()
    for start, item in enumerate(items):
        if start in taken:
            continue
        pieces: list[Paragraph] = []
        last = start
        while (further := _continuation(items, last)) is not None:
            last = further
            taken.add(last)
            piece = items[last].part
            assert isinstance(piece, Paragraph)  # noqa: S101
            pieces.append(piece)
        if pieces:
            assert isinstance(item.part, Paragraph)  # noqa: S101
            item.part = replace(
                item.part,
                lines=[line for part in (item.part, *pieces) for line in part.lines],
                boxes=[box for part in (item.part, *pieces) for box in part.boxes],
            )
        yield item


def _continuation(items: Sequence[Item], place: int) -> int | None:
    """Return the place of the item that goes on where the one at `place` breaks off."""
    item = items[place]
    if item.kind not in (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM) or not isinstance(item.part, Paragraph):
        return None
    if item.part.lines[-1].text.endswith(_ENDS):
        return None
    for further in range(place + 1, min(place + 9, len(items))):
        other = items[further]
        if other.kind in _PASSED_OVER or other.is_label:
            continue
        if other.kind is not BlockKind.PARAGRAPH or not isinstance(other.part, Paragraph):
            return None
        if other.column == item.column and other.part.page == item.part.page:
            return None
        return further if _goes_on(item.part, other.part) else None
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
