"""What a reader sees of a page of the original: which page, at which width, with which marks."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from corpus.models import Chunk, Document
from corpus.page_images import DEFAULT_WIDTH, WIDTHS
from corpus.parsing.media_types import PDF

_MOST_MARKS = 300
_SCALE = 1000
# Boxes end with the letters; a mark leaves them a little room.
_ROOM = 3


@dataclass(frozen=True, slots=True)
class Mark:
    """A rectangle on the page, in thousandths of its width and height from the top left."""

    left: int
    top: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class PageView:
    """One page as a picture. `pages` are those on which the passage is marked, in order."""

    document_id: uuid.UUID
    title: str
    number: int
    count: int
    width: int
    marks: tuple[Mark, ...]
    pages: tuple[int, ...]

    @property
    def previous(self) -> int | None:
        """The page before this one."""
        return self.number - 1 if self.number > 1 else None

    @property
    def next(self) -> int | None:
        """The page after this one."""
        return self.number + 1 if self.number < self.count else None

    @property
    def is_enlarged(self) -> bool:
        """Whether the picture is wider than what fits beside the text."""
        return self.width > DEFAULT_WIDTH

    @property
    def wider(self) -> int | None:
        """The next width up."""
        return next((width for width in WIDTHS if width > self.width), None)

    @property
    def narrower(self) -> int | None:
        """The next width down."""
        return next((width for width in reversed(WIDTHS) if width < self.width), None)


def has_pages(document: Document) -> bool:
    """Say whether pages of the original can be shown as pictures."""
    return document.media_type == PDF and bool(document.page_count)


def of_passage(
    passage: Chunk, document: Document, *, page: int | None = None, width: int | None = None
) -> PageView | None:
    """Return the page `passage` stands on, or page number `page`; None for formats without pages.

    A page or width that does not exist counts as not asked for.
    """
    if not has_pages(document):
        return None
    count = document.page_count or 0
    boxes = list(_boxes(passage.boxes, count))
    marked = tuple(sorted({number for number, _ in boxes}))
    first = next(iter(marked), passage.page_start or 1)
    number = page if page is not None and 1 <= page <= count else min(max(first, 1), count)
    return PageView(
        document_id=document.pk,
        title=document.title,
        number=number,
        count=count,
        width=width if width in WIDTHS else DEFAULT_WIDTH,
        marks=tuple(mark for at, mark in boxes if at == number),
        pages=marked,
    )


def of_document(document: Document, *, page: int | None = None, width: int | None = None) -> PageView | None:
    """Return page number `page`, or the first one, with nothing marked; None for formats without pages."""
    if not has_pages(document):
        return None
    count = document.page_count or 0
    return PageView(
        document_id=document.pk,
        title=document.title,
        number=page if page is not None and 1 <= page <= count else 1,
        count=count,
        width=width if width in WIDTHS else DEFAULT_WIDTH,
        marks=(),
        pages=(),
    )


def _boxes(stored: Iterable[Any], count: int) -> Iterable[tuple[int, Mark]]:
    """Yield page and rectangle of each stored box that makes sense. They come from a stranger's file."""
    for box in list(stored)[:_MOST_MARKS]:
        if not isinstance(box, Sequence) or len(box) != 5:
            continue
        try:
            page, (left, top, right, bottom) = int(box[0]), (_thousandths(edge) for edge in box[1:])
        except (TypeError, ValueError, OverflowError):
            continue
        if 1 <= page <= count and left < right and top < bottom:
            left, top = max(left - _ROOM, 0), max(top - _ROOM, 0)
            yield page, Mark(left, top, min(right + _ROOM, _SCALE) - left, min(bottom + _ROOM, _SCALE) - top)


def _thousandths(edge: float) -> int:
    if not math.isfinite(edge):
        raise ValueError("not a place on a page")
    return round(min(max(edge, 0.0), 1.0) * _SCALE)
