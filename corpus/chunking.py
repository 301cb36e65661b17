"""Cut the blocks of a document into passages. Pure: the same blocks always give the same passages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from corpus.citation_units import (
    forward_references,
    on_slide,
    pages_label,
    section_unit,
    slides_label,
    table_label,
    table_locator,
    table_unit,
    text_locator,
)
from corpus.parsing.blocks import Block, Box
from corpus.passage_boxes import Held, boxes_of, pages_of
from corpus.pieces import Piece, TokenCounter, pieces_of
from corpus.sections import Section, sections_of
from corpus.tables import table_bodies

# Bounds the work where pieces have no tokens at all, such as empty lines of code.
_MAX_CARRIED = 50


@dataclass(frozen=True, slots=True)
class ChunkingLimits:
    """How long passages may be, in tokens of the counter and in bytes of UTF-8.

    PostgreSQL refuses a row whose lexemes exceed 1 MB; `max_bytes` keeps every passage far below.
    """

    chunk_tokens: int = 800
    overlap_tokens: int = 150
    table_tokens: int = 3000
    max_bytes: int = 200_000

    def __post_init__(self) -> None:
        if not 0 <= self.overlap_tokens * 2 <= self.chunk_tokens or self.table_tokens < 1:
            raise ValueError("the overlap may be at most half of a passage, and no length is negative")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage before it is stored."""

    ordinal: int
    body: str
    content: str
    section_path: tuple[str, ...]
    locator: str
    citation_unit: str
    page_start: int | None
    page_end: int | None
    boxes: tuple[Box, ...]
    is_table: bool
    token_count: int
    forward_references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A passage's text before it has its number. `position` is the block its own text starts with."""

    position: int
    body: str
    tokens: int
    section_path: tuple[str, ...]
    held: tuple[Held, ...]
    label: str = ""
    part: tuple[int, int] = (0, 0)
    table_number: int = 0

    @property
    def place(self) -> tuple[int, int]:
        """Where the passage stands among the others."""
        return self.position, self.part[0]


def chunk(
    blocks: Sequence[Block],
    *,
    title: str,
    count_tokens: TokenCounter,
    limits: ChunkingLimits = ChunkingLimits(),
    has_slides: bool = False,
) -> tuple[Passage, ...]:
    """Return the passages of a document in reading order.

    Paragraphs of a section merge up to the target and never across a heading; a longer paragraph is cut
    between sentences. The next passage of the same section repeats whole trailing sentences up to the
    overlap. A table is a passage of its own, beside the prose around it, and hands nothing to prose;
    one that is too long is cut between rows, each piece with the header and the last two rows before it.

    With `has_slides` the pages of the blocks are slides: locators name them, and passages have no pages.
    """
    drafts: list[_Draft] = []
    table_number = 0
    for section in sections_of(blocks, title):
        drafts += _prose(section, count_tokens, limits)
        for position, block in section.tables:
            table_number += 1
            drafts += _table(section, position, block, table_number, count_tokens, limits)
    said = sorted((draft for draft in drafts if draft.body.strip()), key=lambda draft: draft.place)
    passages = (_passage(draft, ordinal, title, has_slides=has_slides) for ordinal, draft in enumerate(said))
    return tuple(passages)


def _prose(section: Section, count: TokenCounter, limits: ChunkingLimits) -> Iterator[_Draft]:
    packer = _Packer(limits)
    blocks = dict(section.texts)
    for position, block in section.texts:
        pieces = pieces_of(block, position, count, max_tokens=limits.chunk_tokens, max_bytes=limits.max_bytes)
        for packed in packer.add_paragraph(pieces):
            yield _draft(packed, blocks, section.path)
    for packed in packer.finish():
        yield _draft(packed, blocks, section.path)


def _draft(packed: _Packed, blocks: Mapping[int, Block], section_path: tuple[str, ...]) -> _Draft:
    first, *others = packed.pieces
    body = first.text + "".join(piece.joint + piece.text for piece in others)
    by_block = {
        position: list(pieces) for position, pieces in groupby(packed.pieces, key=attrgetter("position"))
    }
    return _Draft(
        position=packed.pieces[packed.carried].position,
        body=body.strip("\n"),
        tokens=sum(piece.tokens for piece in packed.pieces),
        section_path=section_path,
        held=tuple(
            Held(blocks[position], ((pieces[0].start, pieces[-1].end),))
            for position, pieces in by_block.items()
        ),
        part=(packed.number, 0),
    )


@dataclass(frozen=True, slots=True)
class _Packed:
    """The pieces of one passage, the first `carried` of them repeated from the passage before."""

    pieces: tuple[Piece, ...]
    carried: int
    number: int


class _Packer:
    """Fills passages of one section with pieces."""

    def __init__(self, limits: ChunkingLimits) -> None:
        self.limits = limits
        self.number = 0
        self._hold([])

    def add_paragraph(self, pieces: Sequence[Piece]) -> Iterator[_Packed]:
        """Take a paragraph and yield the passages that are full."""
        is_well_filled = self.tokens * 2 >= self.limits.chunk_tokens
        if is_well_filled and not self._fits(pieces):
            yield from self._start_next(pieces)
        for piece in pieces:
            if self.pieces and not self._fits([piece]):
                yield from self._start_next([piece])
            self.pieces.append(piece)
            self.tokens += piece.tokens
            self.size += piece.size

    def finish(self) -> Iterator[_Packed]:
        """Yield the last passage, unless it would only repeat."""
        if len(self.pieces) > self.carried:
            self.number += 1
            yield _Packed(tuple(self.pieces), self.carried, self.number)

    def _start_next(self, upcoming: Sequence[Piece]) -> Iterator[_Packed]:
        yield from self.finish()
        self._hold(self._trailing())
        # Rather a shorter overlap than a paragraph cut in two, unless it has to be cut anyway.
        whole = sum(piece.tokens for piece in upcoming) <= self.limits.chunk_tokens
        needed = upcoming if whole else upcoming[:1]
        while self.pieces and not self._fits(needed):
            self._hold(self.pieces[1:])

    def _hold(self, carried: list[Piece]) -> None:
        self.pieces = carried
        self.carried = len(carried)
        self.tokens = sum(piece.tokens for piece in carried)
        self.size = sum(piece.size for piece in carried)

    def _trailing(self) -> list[Piece]:
        room = self.limits.overlap_tokens
        kept: list[Piece] = []
        for piece in reversed(self.pieces[1:]):
            room -= piece.tokens
            if room < 0 or not piece.is_whole or len(kept) == _MAX_CARRIED:
                break
            kept.append(piece)
        return kept[::-1]

    def _fits(self, more: Sequence[Piece]) -> bool:
        tokens = self.tokens + sum(piece.tokens for piece in more)
        size = self.size + sum(piece.size for piece in more)
        return tokens <= self.limits.chunk_tokens and size <= self.limits.max_bytes


def _table(
    section: Section, position: int, block: Block, number: int, count: TokenCounter, limits: ChunkingLimits
) -> Iterator[_Draft]:
    bodies = table_bodies(
        block,
        count,
        max_tokens=limits.table_tokens,
        overlap_tokens=limits.overlap_tokens,
        max_bytes=limits.max_bytes,
    )
    for part, body in enumerate(bodies, start=1):
        yield _Draft(
            position=position,
            body=body.text,
            tokens=count(body.text),
            section_path=section.path,
            held=(Held(block, body.ranges),),
            label=table_label(block.text),
            part=(part, len(bodies)),
            table_number=number,
        )


def _passage(draft: _Draft, ordinal: int, title: str, *, has_slides: bool) -> Passage:
    found = [(held, boxes_of(held)) for held in draft.held]
    boxes = tuple(dict.fromkeys(box for _, own in found for box in own))
    pages = {page for held, own in found for page in pages_of(held, own)}
    first, last = (min(pages), max(pages)) if pages else (None, None)
    label = slides_label(first, last) if has_slides else pages_label(first, last)
    if draft.table_number:
        locator = table_locator(draft.label, draft.section_path, label, draft.part)
        unit = table_unit(draft.label, draft.table_number)
    else:
        locator = text_locator(draft.section_path, label, ordinal)
        unit = section_unit(draft.section_path, first, ordinal, kind="slide" if has_slides else "page")
    if has_slides:
        # Whatever shows pages would call them pages.
        locator, first, last = on_slide(locator, label), None, None
    return Passage(
        ordinal=ordinal,
        body=draft.body,
        content=_content(title, draft.section_path, draft.body),
        section_path=draft.section_path,
        locator=locator,
        citation_unit=unit,
        page_start=first,
        page_end=last,
        boxes=boxes,
        is_table=bool(draft.table_number),
        token_count=draft.tokens,
        forward_references=forward_references(draft.body, own_label=draft.label),
    )


def _content(title: str, section_path: Sequence[str], body: str) -> str:
    head = [title, " > ".join(section_path)]
    return "\n".join(line for line in head if line) + "\n\n" + body
