"""The one block model: what every parser returns and the chunker reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from corpus.parsing.hidden import Hidden


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    TABLE = "table"
    EQUATION = "equation"
    LIST_ITEM = "list_item"
    CODE = "code"
    FOOTNOTE = "footnote"
    CAPTION = "caption"


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, page-relative from 0 to 1, origin at the top left; pages count from 1."""

    page: int
    left: float
    top: float
    right: float
    bottom: float


def around(boxes: Sequence[Box]) -> Box:
    """Return one rectangle around several of one page."""
    return Box(
        boxes[0].page,
        min(box.left for box in boxes),
        min(box.top for box in boxes),
        max(box.right for box in boxes),
        max(box.bottom for box in boxes),
    )


@dataclass(frozen=True, slots=True)
class Strip:
    """A line of text, or of a table, where it stands, and how many letters and digits it holds."""

    box: Box
    letters: int


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document in reading order.

    `level` is set for headings (1 is the highest). A table has `rows` of cell texts, `header_rows` of
    them headers, and its caption in `text`; every other kind has its words in `text`. `strips` are its
    lines in order, a caption's first, with every letter of it; empty where they are not known.
    """

    kind: BlockKind
    text: str = ""
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()
    header_rows: int = 0
    page: int | None = None
    boxes: tuple[Box, ...] = ()
    strips: tuple[Strip, ...] = ()


def captioned(table: Block, caption: Block) -> Block:
    """Return `table` with the words of `caption` as its own."""
    are_known = table.strips and caption.strips
    return replace(
        table,
        text=caption.text,
        page=table.page if table.page is not None else caption.page,
        boxes=(*caption.boxes, *table.boxes),
        strips=(*caption.strips, *table.strips) if are_known else (),
    )


@dataclass(frozen=True, slots=True)
class Reference:
    """An entry of the document's own reference list."""

    text: str
    doi: str = ""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What a parser found in one file. Metadata is what the file itself states; empty when it is silent.

    `hidden` is what the file holds and no reader sees, whether or not it is in the blocks.
    """

    blocks: tuple[Block, ...]
    parser: str
    media_type: str
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str = ""
    journal: str = ""
    language: str = ""
    license_statement: str = ""
    page_count: int | None = None
    references: tuple[Reference, ...] = ()
    warnings: tuple[str, ...] = ()
    quality: dict[str, float | int | str] = field(default_factory=dict)
    hidden: tuple[Hidden, ...] = ()


class ParseFailure(Exception):
    """A file that cannot be taken in. `code` is stable; the message is one sentence for a librarian."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
