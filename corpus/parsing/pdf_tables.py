"""Tables of a page: between rules, or by rows whose cells keep their columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from corpus.parsing.blocks import Box
from corpus.parsing.pdf_types import Line, Rule


@dataclass(slots=True)
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
    boxes: list[Box] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The words of the table, for whoever weighs it beside lines."""
        return " ".join(cell for row in self.rows for cell in row)


def ruled(lines: Sequence[Line], rules: Sequence[Rule]) -> tuple[list[Table], list[Line]]:
    return [], list(lines)


def unruled(lines: Sequence[Line], page: int) -> Iterator[Table | list[Line]]:
    if lines:
        yield list(lines)
