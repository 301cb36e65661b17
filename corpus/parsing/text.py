"""Plain text: paragraphs, headings, lists and tables told apart by their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from corpus.headings import heading_level
from corpus.normalise import WordForms, clean, unwrap
from corpus.parsing.blocks import Block, BlockKind, ParsedDocument, ParseFailure
from corpus.parsing.decoding import read_text
from corpus.parsing.limits import ParseLimits
from corpus.parsing.media_types import TEXT
from corpus.parsing.metadata import find_license
from corpus.parsing.references import split_reference_list

PARSER = "text-segmenter 1"
_SHORTEST_FRAGMENT = 20
_LONGEST_HEADING = 160
_UNDERLINE = re.compile(r"={3,}|-{3,}")
_BULLET = re.compile(r"\s*(?:[-*\u2022\u25aa\u2023\u00b7]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+(?=\S)")
_NUMBERED_LINE = re.compile(r"\s*\d{1,2}\.?\s+\S")
_CELL_GAP = re.compile(r"\t+| {2,}")
_PIPE_RULE = re.compile(r"[\s|:+=-]+")
_LONGEST_TABLE_LINE = 2_000


def parse(path: Path, limits: ParseLimits) -> ParsedDocument:
    """Read a plain text file; a form feed in it is a page break."""
    raw, warnings = read_text(path, limits)
    text = clean(raw)
    if not text.strip():
        raise ParseFailure("no_text", "The file contains no text.")
    pages = text.split("\f")
    forms = WordForms(pages)
    is_paged = len(pages) > 1
    blocks = [
        block
        for number, page in enumerate(pages, start=1)
        for block in _blocks_of_page(page, forms, number if is_paged else None)
    ]
    kept, references = split_reference_list(_without_fragments(blocks))
    return ParsedDocument(
        blocks=kept,
        parser=PARSER,
        media_type=TEXT,
        title=_title(blocks),
        page_count=len(pages) if is_paged else None,
        license_statement=find_license(block.text for block in kept),
        references=references,
        warnings=warnings,
        quality={"characters": len(text)},
    )


def _blocks_of_page(text: str, forms: WordForms, page: int | None) -> Iterator[Block]:
    for has_words, group in groupby(text.split("\n"), key=lambda line: bool(line.strip())):
        if has_words:
            for block in _blocks_of_group(list(group), forms):
                yield replace(block, page=page)


def _blocks_of_group(lines: list[str], forms: WordForms) -> Iterator[Block]:
    """Yield the blocks of consecutive lines that no empty line divides."""
    rows = _table_rows(lines)
    if rows is not None:
        yield Block(BlockKind.TABLE, rows=rows, header_rows=1)
        return
    heading, rest = _leading_heading(lines)
    if heading is not None:
        yield heading
    if not rest:
        return
    if _BULLET.match(rest[0]) and (len(rest) == 1 or any(_BULLET.match(line) for line in rest[1:])):
        yield from _list_items(rest, forms)
    else:
        yield Block(BlockKind.PARAGRAPH, unwrap(rest, forms))


def _leading_heading(lines: list[str]) -> tuple[Block | None, list[str]]:
    first = lines[0].strip()
    if len(lines) > 1 and _UNDERLINE.fullmatch(lines[1].strip()) and len(first) <= _LONGEST_HEADING:
        return Block(BlockKind.HEADING, first, level=1 if lines[1].strip()[0] == "=" else 2), lines[2:]
    level = heading_level(first)
    if level is None or (len(lines) > 1 and not _stands_above(first, lines[1])):
        return None, lines
    return Block(BlockKind.HEADING, first, level=level), lines[1:]


def _stands_above(first: str, second: str) -> bool:
    """Whether `first`, which reads like a heading, is one above `second` rather than its like."""
    if _NUMBERED_LINE.match(first) and _NUMBERED_LINE.match(second):
        return False
    return (
        heading_level(second) is None and len(second.strip()) > len(first) and not second.strip()[0].islower()
    )


def _list_items(lines: list[str], forms: WordForms) -> Iterator[Block]:
    item: list[str] = []
    for line in lines:
        if _BULLET.match(line) and item:
            yield Block(BlockKind.LIST_ITEM, unwrap(item, forms))
            item = []
        item.append(line)
    yield Block(BlockKind.LIST_ITEM, unwrap(item, forms))


def _table_rows(lines: Sequence[str]) -> tuple[tuple[str, ...], ...] | None:
    """Return the cells of lines that are rows of one table, or None when they are running text."""
    if len(lines) < 2 or max(map(len, lines)) > _LONGEST_TABLE_LINE:
        return None
    if all("|" in line for line in lines):
        rows = [line.strip().strip("|").split("|") for line in lines if not _PIPE_RULE.fullmatch(line)]
    else:
        rows = [_CELL_GAP.split(line.strip()) for line in lines]
    widths = {len(row) for row in rows}
    if len(rows) < 2 or len(widths) != 1 or min(widths) < 2 or (min(widths) == 2 and len(rows) < 3):
        return None
    return tuple(tuple(cell.strip() for cell in row) for row in rows)


def _without_fragments(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks without paragraphs too short to say anything, unless there is nothing else."""
    kept = [
        block
        for block in blocks
        if block.kind is not BlockKind.PARAGRAPH or len(block.text) >= _SHORTEST_FRAGMENT
    ]
    return kept if any(block.kind is not BlockKind.HEADING for block in kept) else list(blocks)


def _title(blocks: Sequence[Block]) -> str:
    """Return the first block where it is short enough to be a title."""
    first = blocks[0]
    is_title = first.kind in (BlockKind.HEADING, BlockKind.PARAGRAPH) and len(first.text) <= 200
    return first.text if is_title and len(blocks) > 1 and not first.text.endswith(".") else ""
