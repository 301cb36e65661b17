"""Which deposited references a document's own list lacks. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from corpus.identifiers import fold

# A shorter title stands in other entries by chance.
_SHORTEST_TITLE = 20


class Entry(Protocol):
    """What is compared of a deposited reference."""

    @property
    def doi(self) -> str:
        """Return its normalised DOI, empty where there is none."""

    @property
    def title(self) -> str:
        """Return the title of the cited work."""

    @property
    def text(self) -> str:
        """Return the entry as one line."""


E = TypeVar("E", bound=Entry)


def missing(own: Sequence[tuple[str, str]], deposited: Iterable[E]) -> list[E]:
    """Return those of `deposited` that `own`, texts with their DOIs, does not have already."""
    known = {doi for _, doi in own if doi}
    written = fold("\n".join(text for text, _ in own))
    found: list[E] = []
    seen: set[str] = set()
    for entry in deposited:
        key = entry.doi or fold(entry.text)
        if key in seen or entry.doi in known or (entry.doi and entry.doi in written):
            continue
        if any(
            len(part) >= _SHORTEST_TITLE and part in written for part in map(fold, (entry.title, entry.text))
        ):
            continue
        seen.add(key)
        found.append(entry)
    return found
