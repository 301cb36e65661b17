"""Where a passage stands on its pages: around the lines that hold its words, and no others. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corpus.normalise import letter_count
from corpus.parsing.blocks import Block, Box, Strip

Letters = tuple[int, int]
"""From which letter of a block on, and up to which, counted from 0."""

# A mark of which less is in the passage points at something else.
_LEAST_HELD = 0.5
# In heights of a line: from here on lines do not stand together.
_WIDEST_GAP = 1.5


@dataclass(frozen=True, slots=True)
class Held:
    """A block of which a passage has the letters in `ranges`, which are in order."""

    block: Block
    ranges: tuple[Letters, ...]


@dataclass(slots=True)
class _Area:
    """Lines below each other, how many letters they have, and how many of those are the passage's."""

    box: Box
    last: Box
    letters: int
    held: int


def boxes_of(held: Held) -> tuple[Box, ...]:
    """Return where the passage's part of the block stands; nothing where that is not certain.

    A block whose lines are known gives a box around those that the passage has a part of. Of any other
    the boxes count when the passage has it whole, or most of what stands in its only one.
    """
    block = held.block
    if block.strips:
        areas = list(_areas(block.strips, held.ranges))
    else:
        letters, taken = _letters(block), sum(end - start for start, end in held.ranges)
        if taken < letters and len(block.boxes) > 1:
            return ()
        areas = [_Area(box, box, letters, taken) for box in block.boxes]
    return tuple(area.box for area in areas if area.held >= _LEAST_HELD * area.letters)


def pages_of(held: Held, boxes: Sequence[Box]) -> set[int]:
    """Return the pages the passage's part of the block stands on; without boxes, those it may stand on."""
    if boxes:
        return {box.page for box in boxes}
    own = {box.page for box in held.block.boxes}
    return own if held.block.page is None else own | {held.block.page}


def _areas(strips: Sequence[Strip], ranges: Sequence[Letters]) -> Iterator[_Area]:
    """Yield the runs of lines that the passage has a part of, each as far as they stand together."""
    area: _Area | None = None
    total, end = sum(strip.letters for strip in strips), 0
    for strip in strips:
        start, end = end, end + strip.letters
        taken = sum(max(0, min(end, last) - max(start, first)) for first, last in ranges)
        is_inside = taken > 0 if strip.letters else any(_is_within(end, one, total) for one in ranges)
        if area is not None and not (is_inside and _stand_together(area, strip.box)):
            yield area
            area = None
        if is_inside:
            own = _Area(strip.box, strip.box, strip.letters, taken)
            area = own if area is None else _joined(area, own)
    if area is not None:
        yield area


def _is_within(place: int, letters: Letters, total: int) -> bool:
    """Whether a line without letters stands among the letters, rather than right before or behind them."""
    first, last = letters
    return (first < place or first == place == 0) and (place < last or place == last == total)


def _stand_together(area: _Area, box: Box) -> bool:
    last = area.last
    height = max(last.bottom - last.top, box.bottom - box.top)
    is_below = box.bottom > last.top and box.top - last.bottom < _WIDEST_GAP * height
    is_beneath = min(area.box.right, box.right) > max(area.box.left, box.left)
    return last.page == box.page and is_below and is_beneath


def _joined(area: _Area, line: _Area) -> _Area:
    letters, held = area.letters + line.letters, area.held + line.held
    return _Area(_around(area.box, line.box), line.box, letters, held)


def _around(first: Box, second: Box) -> Box:
    return Box(
        first.page,
        min(first.left, second.left),
        min(first.top, second.top),
        max(first.right, second.right),
        max(first.bottom, second.bottom),
    )


def _letters(block: Block) -> int:
    return letter_count(block.text) + sum(letter_count(cell) for row in block.rows for cell in row)
