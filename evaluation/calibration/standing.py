"""What an item still wants of whom, and what its labels come to. Pure.

Two people grade an item. Where they differ in anything, a third who has not seen their labels grades it
too; that decides what they differ in, and only that. Somebody who skips an item leaves it to others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from evaluation.judging.rubric import DIMENSIONS

NEEDED = 2
EXPERTS, OTHERS = "experts", "others"


@dataclass(frozen=True, slots=True)
class Label:
    """One person's grades of one item; none when they skipped it."""

    labeller: str
    is_expert: bool
    is_adjudication: bool
    grades: Mapping[str, int]


def graded(labels: Sequence[Label]) -> list[Label]:
    """Return the labels of those who graded, by their names; without the adjudication."""
    given = [label for label in labels if label.grades and not label.is_adjudication]
    return sorted(given, key=lambda label: label.labeller)


def adjudication(labels: Sequence[Label]) -> Label | None:
    """Return the label that decides where others differ."""
    return next((label for label in labels if label.grades and label.is_adjudication), None)


def differing(labels: Sequence[Label]) -> tuple[str, ...]:
    """Return the dimensions in which those who graded differ."""
    given = graded(labels)
    return tuple(name for name in DIMENSIONS if len({label.grades[name] for label in given}) > 1)


def wants_label(labels: Sequence[Label], person: str) -> bool:
    """Say whether `person` is to grade the item: fewer than two have, and they have not been here."""
    return not _was_here(labels, person) and len(graded(labels)) < NEEDED


def wants_adjudication(labels: Sequence[Label], person: str) -> bool:
    """Say whether `person` is to decide: two differ, nobody has decided, and they are neither."""
    return (
        not _was_here(labels, person)
        and len(graded(labels)) >= NEEDED
        and bool(differing(labels))
        and adjudication(labels) is None
    )


def wants(labels: Sequence[Label], person: str) -> bool:
    """Say whether `person` has something to do about the item."""
    return wants_label(labels, person) or wants_adjudication(labels, person)


def settled(labels: Sequence[Label], *, experts: bool) -> dict[str, int]:
    """Return the grade of each dimension on which people of one kind are at one, or that one decided."""
    kind = [label for label in labels if label.is_expert == experts]
    given, decided = graded(kind), adjudication(kind)
    found = {}
    for name in DIMENSIONS:
        grades = {label.grades[name] for label in given}
        if len(grades) == 1:
            found[name] = grades.pop()
        elif grades and decided is not None:
            found[name] = decided.grades[name]
    return found


def _was_here(labels: Collection[Label], person: str) -> bool:
    return any(label.labeller == person for label in labels)
