"""Where a passage stands on its pages: around the lines that hold its words, and no others. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corpus.normalise import letter_count
from corpus.parsing.blocks import Block, Box, Strip, around

Letters = tuple[int, int]
"""From which letter of a block on, and up to which, counted from 0."""

# A mark of which the passage has less points at something else.
_LEAST_OF_MARK = 0.5
# Less of a line is the end of a sentence, or the beginning of one: no reason to mark the line.
_LEAST_OF_LINE = 0.25
# In heights of a line: from here on lines do not stand together.
_WIDEST_GAP = 1.5


@dataclass(frozen=True, slots=True)
class Held:
    """A block of which a passage has the letters in `ranges`, which are in order."""

    block: Block
    ranges: tuple[Letters, ...]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line, how many letters it has, and how many of those are the passage's."""

    box: Box
    letters: int
    held: int

    @property
    def share(self) -> float:
        """How much of the line is the passage's."""
        return self.held / self.letters if self.letters else 1.0


def boxes_of(held: Held) -> tuple[Box, ...]:
    """Return where the passage's part of the block stands; nothing where that is not certain.

    A block whose lines are known gives boxes around those that the passage has a good part of. Of any other
    the boxes count when the passage has it whole, or most of what stands in its only one.
    """
    block = held.block
    if block.strips:
        runs = _runs(block.strips, held.ranges)
        return tuple(around([line.box for line in lines]) for run in runs if (lines := _trimmed(run)))
    if not block.boxes:
        return ()
    taken, letters = sum(end - start for start, end in held.ranges), _letters(block)
    is_certain = taken == letters or (len(block.boxes) == 1 and taken >= _LEAST_OF_MARK * letters)
    return block.boxes if is_certain else ()


def pages_of(held: Held, boxes: Sequence[Box]) -> set[int]:
    """Return the pages the passage's part of the block stands on; without boxes, those it may stand on."""
    if boxes:
        return {box.page for box in boxes}
    own = {box.page for box in held.block.boxes}
    return own if held.block.page is None else own | {held.block.page}


def _runs(strips: Sequence[Strip], ranges: Sequence[Letters]) -> Iterator[list[_Line]]:
    """Yield the lines that the passage has a good part of, those together that stand together.

    A line without letters is left out: of what is drawn in it, as of large brackets, only the font knows
    how far it reaches.
    """
    run: list[_Line] = []
    end = 0
    for strip in strips:
        if not strip.letters:
            continue
        start, end = end, end + strip.letters
        taken = sum(max(0, min(end, last) - max(start, first)) for first, last in ranges)
        line = _Line(strip.box, strip.letters, taken)
        is_held = line.share >= _LEAST_OF_LINE
        if run and not (is_held and _stand_together(run, line.box)):
            yield run
            run = []
        if is_held:
            run.append(line)
    if run:
        yield run


def _trimmed(run: list[_Line]) -> list[_Line]:
    """Return the lines without those at the ends that leave the passage less than half of all."""
    lines = list(run)
    while lines and sum(line.held for line in lines) < _LEAST_OF_MARK * sum(line.letters for line in lines):
        lines.pop(0 if lines[0].share <= lines[-1].share else -1)
    return lines


def _stand_together(run: Sequence[_Line], box: Box) -> bool:
    last = run[-1].box
    height = max(last.bottom - last.top, box.bottom - box.top)
    is_below = box.bottom > last.top and box.top - last.bottom < _WIDEST_GAP * height
    is_beneath = any(min(line.box.right, box.right) > max(line.box.left, box.left) for line in run)
    return last.page == box.page and is_below and is_beneath


def _letters(block: Block) -> int:
    return letter_count(block.text) + sum(letter_count(cell) for row in block.rows for cell in row)
