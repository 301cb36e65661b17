"""Markdown: CommonMark with front matter and pipe tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from corpus.identifiers import normalise_doi
from corpus.normalise import clean, one_line
from corpus.parsing.blocks import Block, BlockKind, ParsedDocument, ParseFailure
from corpus.parsing.decoding import read_text
from corpus.parsing.limits import ParseLimits
from corpus.parsing.media_types import MARKDOWN
from corpus.parsing.metadata import as_names, as_year, find_license
from corpus.parsing.references import split_reference_list

PARSER = "markdown-it 1"
_DEEPEST = 100
_NESTED_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]?){101}", re.MULTILINE)
_LONGEST_FRONT_MATTER = 64_000
_TAG = re.compile(r"<[^<>]{0,2000}>")


def parse(path: Path, limits: ParseLimits) -> ParsedDocument:
    """Read a Markdown file. Front matter gives the metadata, else the first level 1 heading the title."""
    raw, warnings = read_text(path, limits)
    text = clean(raw).replace("\f", "\n")
    if _NESTED_QUOTE.search(text):
        raise ParseFailure("nested_too_deep", "The Markdown is nested more than 100 levels deep.")
    tokens = _parser().parse(text)
    # The parser drops what is nested deeper than its limit without a word.
    if any(token.level >= _DEEPEST - 4 for token in tokens):
        raise ParseFailure("nested_too_deep", "The Markdown is nested more than 100 levels deep.")
    front, front_warnings = _front_matter(tokens)
    blocks = [block for block in _Walk(tokens).blocks() if block.text or block.rows]
    if not blocks:
        raise ParseFailure("no_text", "The file contains no text.")
    kept, references = split_reference_list(blocks)
    return ParsedDocument(
        blocks=kept,
        parser=PARSER,
        media_type=MARKDOWN,
        title=one_line(str(front.get("title") or "")) or _first_heading(blocks),
        authors=as_names(front.get("authors") or front.get("author")),
        year=as_year(front.get("year") or front.get("date")),
        doi=normalise_doi(str(front.get("doi") or "")) or "",
        journal=one_line(str(front.get("journal") or "")),
        language=str(front.get("lang") or front.get("language") or "")[:20],
        license_statement=one_line(str(front.get("license") or front.get("licence") or ""))
        or find_license(block.text for block in kept),
        references=references,
        warnings=warnings + front_warnings,
        quality={"characters": len(text)},
    )


def _parser() -> MarkdownIt:
    # Raw HTML stays off as markup but its words are kept: see `_inline_text`.
    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable("table")
    return parser.use(front_matter_plugin).use(footnote_plugin)


def _front_matter(tokens: Sequence[Token]) -> tuple[dict[str, Any], tuple[str, ...]]:
    if not tokens or tokens[0].type != "front_matter":
        return {}, ()
    source = tokens[0].content
    unreadable = ("The front matter could not be read and was ignored.",)
    if len(source) > _LONGEST_FRONT_MATTER:
        return {}, unreadable
    try:
        # Aliases are refused: a few hundred bytes of them stand for gigabytes.
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(source, Loader=yaml.SafeLoader)):
            return {}, unreadable
        loaded = yaml.safe_load(source)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, unreadable
    return (loaded, ()) if isinstance(loaded, dict) else ({}, unreadable)


def _first_heading(blocks: Sequence[Block]) -> str:
    headings = (block.text for block in blocks if block.kind is BlockKind.HEADING and block.level == 1)
    return next(headings, "")


@dataclass
class _Walk:
    """One pass over the flat token stream."""

    tokens: Sequence[Token]

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in order."""
        list_depth = 0
        is_footnote = False
        place = 0
        while place < len(self.tokens):
            token = self.tokens[place]
            if token.type == "table_open":
                place, table = self._table(place)
                yield table
                continue
            list_depth += (token.type == "list_item_open") - (token.type == "list_item_close")
            is_footnote = (is_footnote or token.type == "footnote_open") and token.type != "footnote_close"
            block = self._block(place, is_footnote=is_footnote, in_list=list_depth > 0)
            if block is not None:
                yield block
            place += 1

    def _block(self, place: int, *, is_footnote: bool, in_list: bool) -> Block | None:
        token = self.tokens[place]
        if token.type != "inline":
            return _block_without_inline(token)
        opening, text = self.tokens[place - 1], _inline_text(token)
        if opening.type == "heading_open":
            return Block(BlockKind.HEADING, text, level=int(opening.tag[1:]))
        if len(text) > 4 and text.startswith("$$") and text.endswith("$$"):
            return Block(BlockKind.EQUATION, text[2:-2].strip())
        kind = BlockKind.LIST_ITEM if in_list else BlockKind.PARAGRAPH
        return Block(BlockKind.FOOTNOTE if is_footnote else kind, text)

    def _table(self, place: int) -> tuple[int, Block]:
        """Return the place behind the table that opens at `place`, and the table."""
        rows: list[tuple[str, ...]] = []
        cells: list[str] = []
        header_rows = 0
        while self.tokens[place].type != "table_close":
            token = self.tokens[place]
            if token.type == "inline":
                cells.append(_inline_text(token))
            elif token.type == "tr_close":
                rows.append(tuple(cells))
                cells = []
            elif token.type == "thead_close":
                header_rows = len(rows)
            place += 1
        return place + 1, Block(BlockKind.TABLE, rows=tuple(rows), header_rows=header_rows)


def _block_without_inline(token: Token) -> Block | None:
    """Return code, or the words of raw HTML; other tokens only open and close."""
    if token.type in ("fence", "code_block"):
        return Block(BlockKind.CODE, token.content.rstrip("\n"))
    if token.type == "html_block":
        return Block(BlockKind.PARAGRAPH, one_line(_TAG.sub(" ", token.content)))
    return None


def _inline_text(token: Token) -> str:
    """Return the words of an inline token: link and image texts kept, tags and marks dropped."""
    parts: list[str] = []
    for child in token.children or ():
        if child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "image":
            parts.append(child.content)
        elif child.type == "footnote_ref":
            parts.append(f"[{int(child.meta['id']) + 1}]")
        elif child.type != "html_inline":
            parts.append(child.content)
    return one_line("".join(parts))
