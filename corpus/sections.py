"""The sections of a document: what stands between one heading and the next, with its path. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from corpus.citation_units import table_label
from corpus.normalise import matching_form
from corpus.parsing.blocks import Block, BlockKind, captioned

# A longer "heading" is running text that a parser took for one.
MAX_HEADING = 300
MAX_DEPTH = 9
# A heading with nothing under it names an emptied section ("References") unless it reads like a
# statement that was set like a heading: "Total harvested: 45 t per hectare".
_STATEMENT = re.compile(r"\S.*(?:\d|:\s*\S|[.!?]$)", re.DOTALL)
_NO_LETTERS = re.compile(r"[\W_]+")
_LEADING_NUMBER = re.compile(r"\s*[\d.]+\s*")


@dataclass(slots=True)
class Section:
    """What stands between one heading and the next."""

    path: tuple[str, ...] = ()
    heading: tuple[int, Block] | None = None
    level: int = 0
    texts: list[tuple[int, Block]] = field(default_factory=list)
    tables: list[tuple[int, Block]] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not self.texts and not self.tables


def sections_of(blocks: Sequence[Block], title: str) -> Iterator[Section]:
    """Yield the sections that hold something, in order."""
    open_headings: list[tuple[int, str]] = []
    section = Section()
    for position, block in enumerate(_with_captions(blocks)):
        if block.kind is BlockKind.HEADING and 0 < len(block.text.strip()) <= MAX_HEADING:
            level = min(max(block.level, 1), MAX_DEPTH)
            yield from _finished(section, next_level=level, title=title)
            while open_headings and open_headings[-1][0] >= level:
                open_headings.pop()
            open_headings.append((level, " ".join(block.text.split())))
            path = tuple(name for _, name in open_headings if not _is_title(name, title))
            section = Section(path, heading=(position, block), level=level)
        elif block.kind is BlockKind.TABLE and block.rows:
            section.tables.append((position, block))
        elif block.text.strip():
            section.texts.append((position, block))
    yield from _finished(section, next_level=0, title=title)


def _finished(section: Section, *, next_level: int, title: str) -> Iterator[Section]:
    if not section.is_empty:
        yield section
    elif section.heading is not None and next_level <= section.level:
        text = section.heading[1].text.strip()
        if _says_something(text) and not _is_title(text, title):
            section.texts.append(section.heading)
            yield section


def _says_something(heading: str) -> bool:
    return len(heading) >= 20 and bool(_STATEMENT.match(_LEADING_NUMBER.sub("", heading, count=1)))


def _is_title(heading: str, title: str) -> bool:
    """Whether a heading is the document's title, which may carry a footnote mark or other capitals."""
    return _letters(heading) == _letters(title)


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", matching_form(text)).casefold()


def _with_captions(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the blocks, a table without a caption taking the one that stands right before it."""
    waiting: Block | None = None
    for block in blocks:
        if waiting is not None:
            if block.kind is BlockKind.TABLE and not block.text.strip():
                block = captioned(block, waiting)  # noqa: PLW2901
            else:
                yield waiting
            waiting = None
        if block.kind is BlockKind.CAPTION and table_label(block.text):
            waiting = block
        else:
            yield block
    if waiting is not None:
        yield waiting
