"""A table where it stands on a PDF page, and what its finders share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from corpus.normalise import letter_count
from corpus.parsing.blocks import Box, Strip
from corpus.parsing.pdf_grid import Row
from corpus.parsing.pdf_lines import rows
from corpus.parsing.pdf_types import Line

CELL_GAP = 0.95  # in type sizes: words this far apart are surely two cells
_BESIDE = 8.0
FINE_GAP = 0.55  # inside a table, where the columns of all rows must agree


@dataclass(slots=True, eq=False)
class Table:
    """A table where it stands on the page."""

    rows: tuple[tuple[str, ...], ...]
    header_rows: int
    page: int
    left: float
    top: float
    right: float
    bottom: float
    characters: int
    lines: Sequence[Row] = ()
    boxes: list[Box] = field(default_factory=list)
    strips: list[Strip] = field(default_factory=list)
    baseline: float = field(init=False)

    def __post_init__(self) -> None:
        self.baseline = self.bottom

    def bands(self) -> Iterator[tuple[float, float, int]]:
        """Yield where each line begins and where the next one does, and how many letters stand between."""
        edges = [self.top, *(line.top for line in self.lines[1:]), self.bottom]
        for (top, bottom), line in zip(pairwise(edges), self.lines, strict=True):
            yield top, max(top, bottom), sum(letter_count(cell.text) for cell in line.cells)

    @property
    def text(self) -> str:
        """The words of the table, for whoever weighs it beside lines."""
        return " ".join(cell for row in self.rows for cell in row)


def to_cells(lines: Sequence[Line], widest_space: float) -> list[Row]:
    """Return what stands on each baseline, cut into cells where words stand further apart."""
    found = rows([span for line in lines for span in line.spans])
    return [
        Row(Line([part for span in row for part in span.parts(widest_space)]).cells(widest_space))
        for row in found
    ]


def stands_in(table: Table, line: Line) -> bool:
    """Whether the line is inside the table's frame."""
    middle = (line.top + line.bottom) / 2
    is_beside = line.left > table.left - _BESIDE and line.right < table.right + _BESIDE
    return table.top - 1 < middle < table.bottom + 1 and is_beside


def is_listing(lines: Sequence[Line]) -> bool:
    """Whether the lines are a program with its line numbers."""
    total = sum(len(line.text) for line in lines)
    return sum(len(span.text) for line in lines for span in line.spans if span.style.mono) > 0.5 * total


def characters(lines: Sequence[Line]) -> int:
    """Return how many visible characters the lines hold."""
    return sum(len("".join(span.text.split())) for line in lines for span in line.spans)
