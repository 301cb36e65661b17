"""Where the sources of a stored answer differ, as its reader may see it today.

Worked out when it is read, from the passages the reader may see now: a source out of reach stands in no
row and leaves no gap. Nothing of it is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from answers import disagreement
from answers.disagreement import Kind, Row, Source, Statement
from answers.reading import DRIFT_LABELS, ReadableAnswer, ReadableSource

KIND_LABELS = {Kind.FIGURES: "The figures differ", Kind.DIRECTION: "The direction differs"}


@dataclass(frozen=True, slots=True)
class Side:
    """What one source says, as it is printed there, with the year and the status a reader must know."""

    number: int
    title: str
    year: int | None
    says: str
    sentence: str
    status: str

    def as_dict(self) -> dict[str, Any]:
        """Return the side as JSON values."""
        return {
            "source": self.number,
            "year": self.year,
            "says": self.says,
            "sentence": self.sentence,
            "status": self.status,
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """Sources that differ about one thing, side by side."""

    kind: str
    label: str
    sides: tuple[Side, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the difference as JSON values."""
        return {"kind": self.kind, "sides": [side.as_dict() for side in self.sides]}


def differences(shown: ReadableAnswer) -> tuple[Difference, ...]:
    """Return where the sources of `shown` differ about what was asked; none while the text is withheld."""
    if shown.text_withheld:
        return ()
    readable = {
        source.number: source
        for source in shown.sources
        if source.available and source.body and not source.is_table
    }
    compared = [Source(number, source.document_id, source.body) for number, source in readable.items()]
    return tuple(_difference(row, readable) for row in disagreement.rows(shown.answer.searched, compared))


def _difference(row: Row, readable: Mapping[int, ReadableSource]) -> Difference:
    sides = (_side(statement, readable[statement.number]) for statement in row.statements)
    return Difference(row.kind.value, KIND_LABELS[row.kind], tuple(sides))


def _side(statement: Statement, source: ReadableSource) -> Side:
    status = [*source.badges, *(DRIFT_LABELS[mark].lower() for mark in source.drift)]
    return Side(
        number=source.number,
        title=source.title,
        year=source.year,
        says=statement.says,
        sentence=statement.sentence,
        status=", ".join(status),
    )
