"""Paragraphs and tables of the pages to blocks, broken paragraphs whole again, references apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from corpus.normalise import WordForms, clean, compose_accents, letter_count, one_line, unwrap
from corpus.parsing.blocks import Block, BlockKind, Box, Reference, Strip, around, captioned
from corpus.parsing.pdf_items import Item, Part, made_whole, put_together
from corpus.parsing.pdf_kinds import Kinds
from corpus.parsing.pdf_paragraphs import Paragraph
from corpus.parsing.pdf_references import split_references
from corpus.parsing.pdf_tables import Table
from corpus.parsing.pdf_types import Line, Page
from corpus.parsing.references import to_references

_SHORTEST_ROTATED = 20
_TABLE_CAPTION = re.compile(r"(?:supplementary\s+|extended\s+data\s+)?tab(?:le|\.)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Content:
    """The blocks of a document, its reference list, and how many visible characters they hold."""

    blocks: tuple[Block, ...]
    references: tuple[Reference, ...]
    title: str
    characters: int
    rotated_characters: int


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
    items = list(put_together(items, kinds))
    body, entries = split_references(items)
    blocks = [_block(item, forms) for item in made_whole(body)]
    rotated = list(_rotated(pages))
    blocks = [block for block in _with_captions(blocks) if block.text or block.rows]
    return Content(
        blocks=(*blocks, *rotated),
        references=to_references(_running_text(entry, forms) for entry in entries),
        title=one_line(compose_accents(kinds.title)),
        characters=characters + sum(len("".join(block.text.split())) for block in rotated),
        rotated_characters=sum(len("".join(block.text.split())) for block in rotated),
    )


def _items(pages: Sequence[tuple[Page, list[list[Part]]]], kinds: Kinds) -> Iterator[Item]:
    number = 0
    for _, columns in pages:
        for column in columns:
            number += 1
            for part in column:
                if isinstance(part, Table):
                    yield Item(part, BlockKind.TABLE, number)
                else:
                    kind, level = kinds.of(part)
                    yield Item(part, kind, number, level, is_label=kinds.is_label(part))


def _set_boxes(page: Page, columns: list[list[Part]]) -> None:
    for column in columns:
        for part in column:
            if isinstance(part, Paragraph):
                for line in part.lines:
                    line.box = _box_of(page, line)
                boxes = [line.box for line in part.lines if line.box is not None]
                part.boxes = [around(boxes)] if boxes else []
            else:
                part.boxes = [_box(page, part.left, part.top, part.right, part.bottom)]
                part.strips = [
                    Strip(_box(page, part.left, top, part.right, bottom), letters)
                    for top, bottom, letters in part.bands()
                ]


def _box_of(page: Page, line: Line) -> Box | None:
    """Return where a line stands, None where it has only signs of which that is not known."""
    spans = [span for span in line.spans if not span.style.hangs]
    if not spans:
        return None
    left, right = min(span.left for span in spans), max(span.right for span in spans)
    return _box(page, left, min(span.top for span in spans), right, max(span.bottom for span in spans))


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


def _block(item: Item, forms: WordForms) -> Block:
    part = item.part
    if isinstance(part, Table):
        return Block(
            BlockKind.TABLE,
            rows=part.rows,
            header_rows=part.header_rows,
            page=part.page,
            boxes=tuple(part.boxes),
            strips=_all_or_none(part.strips, part.text),
        )
    text = _code(part) if item.kind is BlockKind.CODE else _running_text(part, forms)
    return Block(
        item.kind,
        text,
        level=item.level,
        page=part.page,
        boxes=tuple(part.boxes),
        strips=_all_or_none(list(_strips(part.lines)), text),
    )


def _strips(lines: Sequence[Line]) -> Iterator[Strip]:
    """Yield the lines with their places; letters without one go with the line before, or the next one."""
    waiting: Strip | None = None
    without_place = 0
    for line in lines:
        letters = letter_count(line.text)
        if line.box is None:
            without_place += letters
            continue
        if waiting is not None:
            yield replace(waiting, letters=waiting.letters + without_place)
            without_place = 0
        waiting = Strip(line.box, letters + without_place)
        without_place = 0
    if waiting is not None:
        yield replace(waiting, letters=waiting.letters + without_place)


def _all_or_none(strips: Sequence[Strip], text: str) -> tuple[Strip, ...]:
    """Return the lines when every letter lies in them: else they cannot say what stands where."""
    return tuple(strips) if sum(strip.letters for strip in strips) == letter_count(text) else ()


def _running_text(part: Paragraph, forms: WordForms) -> str:
    return one_line(compose_accents(unwrap([line.text for line in part.lines], forms)))


def _code(part: Paragraph) -> str:
    """Return lines of code with their indents."""
    left = min(line.left for line in part.lines)
    width = max(median((line.right - line.left) / len(line.text) for line in part.lines), 1.0)
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
                kept[place] = captioned(block, caption)
                kept[neighbour] = replace(caption, text="")
                break
    return kept


def _is_table_caption(block: Block) -> bool:
    return block.kind is BlockKind.CAPTION and _TABLE_CAPTION.match(block.text) is not None


def _rotated(pages: Sequence[tuple[Page, list[list[Part]]]]) -> Iterator[Block]:
    """Yield what is set at an angle, once each; labels of axes are too short to say something."""
    seen: set[str] = set()
    for page, _ in pages:
        for text in page.rotated:
            if len(text) >= _SHORTEST_ROTATED and text not in seen:
                seen.add(text)
                yield Block(BlockKind.PARAGRAPH, one_line(text), page=page.number)
