"""What rests on a document in the apps above this one, as far as somebody may know of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from corpus.models import Document


@dataclass(frozen=True, slots=True)
class Resting:
    """One thing that rests on a document: what it is called, and its address."""

    name: str
    address: str


# Each app adds how it finds what is its own: at most so many, the newest first, and how many there are.
Finder = Callable[["Document", "User", int], tuple[list[Resting], int]]
finders: list[Finder] = []


def on(document: Document, user: User, *, most: int) -> tuple[list[Resting], int]:
    """Return what rests on `document`, at most `most`, and how many there are."""
    found: list[Resting] = []
    total = 0
    for find in finders:
        rows, count = find(document, user, most)
        found, total = found + rows, total + count
    return found[:most], total
