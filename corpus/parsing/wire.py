"""What crosses between the parsing process and this one: jobs one way, what was found the other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from corpus.parsing.blocks import Block, BlockKind, Box, ParsedDocument, Reference, Strip
from corpus.parsing.hidden import Hidden, How, kept

# How a reply begins: one letter, then its length in eight bytes.
DOCUMENT, PICTURE, HIDDEN, FAILURE = b"D", b"P", b"H", b"F"

# The jobs a request may name.
PARSE, DRAW, LOOK = "parse", "draw", "look"

_PLAIN_FIELDS = (
    "parser",
    "media_type",
    "title",
    "year",
    "doi",
    "journal",
    "language",
    "license_statement",
    "page_count",
    "quality",
)


def encode(document: ParsedDocument) -> bytes:
    """Return `document` as UTF-8 JSON."""
    wire: dict[str, Any] = {name: getattr(document, name) for name in _PLAIN_FIELDS}
    wire["authors"] = document.authors
    wire["warnings"] = document.warnings
    wire["references"] = [[reference.text, reference.doi] for reference in document.references]
    wire["hidden"] = hidden_to_list(document.hidden)
    wire["blocks"] = [_block_to_list(block) for block in document.blocks]
    return json.dumps(wire, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def decode(payload: bytes) -> ParsedDocument:
    """Return the document `encode` wrote. The payload is untrusted: a wrong shape raises ValueError."""
    try:
        wire = json.loads(payload)
        return ParsedDocument(
            blocks=tuple(_block_from_list(item) for item in wire["blocks"]),
            authors=tuple(str(author) for author in wire["authors"]),
            references=tuple(Reference(text=str(text), doi=str(doi)) for text, doi in wire["references"]),
            warnings=tuple(str(warning) for warning in wire["warnings"]),
            # A result from before was kept without them.
            hidden=hidden_from_list(wire.get("hidden", [])),
            **{name: wire[name] for name in _PLAIN_FIELDS},
        )
    except (KeyError, TypeError, IndexError, RecursionError) as error:
        raise ValueError("the parsing process sent something that is not a document") from error


def hidden_to_list(places: Sequence[Hidden]) -> list[list[Any]]:
    """Return hidden places as JSON values."""
    return [[place.how.value, place.text, place.page] for place in places]


def hidden_from_list(values: Sequence[Any]) -> tuple[Hidden, ...]:
    """Return what `hidden_to_list` was given; raise ValueError or TypeError for another shape."""
    return kept(
        Hidden(How(how), str(text), None if page is None else int(page)) for how, text, page in values
    )


def encode_hidden(places: Sequence[Hidden]) -> bytes:
    """Return hidden places alone as UTF-8 JSON."""
    return json.dumps(hidden_to_list(places), ensure_ascii=False).encode("utf-8", "replace")


def decode_hidden(payload: bytes) -> tuple[Hidden, ...]:
    """Return what `encode_hidden` was given; a wrong shape raises ValueError."""
    try:
        return hidden_from_list(json.loads(payload))
    except (TypeError, RecursionError) as error:
        raise ValueError("the parsing process sent something that is not hidden text") from error


def _block_to_list(block: Block) -> list[Any]:
    return [
        block.kind.value,
        block.text,
        block.level,
        block.rows,
        block.header_rows,
        block.page,
        [_edges(box) for box in block.boxes],
        [[*_edges(strip.box), strip.letters] for strip in block.strips],
    ]


def _edges(box: Box) -> list[float]:
    return [box.page, box.left, box.top, box.right, box.bottom]


def _block_from_list(item: list[Any]) -> Block:
    kind, text, level, rows, header_rows, page, boxes, strips = item
    return Block(
        kind=BlockKind(kind),
        text=str(text),
        level=int(level),
        rows=tuple(tuple(str(cell) for cell in row) for row in rows),
        header_rows=int(header_rows),
        page=None if page is None else int(page),
        boxes=tuple(_box(*edges) for edges in boxes),
        strips=tuple(Strip(_box(*edges), int(letters)) for *edges, letters in strips),
    )


def _box(page: Any, left: Any, top: Any, right: Any, bottom: Any) -> Box:
    return Box(int(page), float(left), float(top), float(right), float(bottom))
