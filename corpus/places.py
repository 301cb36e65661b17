"""The suspicious places of a held document, and which of them a person has read and let go."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corpus import suspicion
from corpus.models import Document
from corpus.parsing import wire
from corpus.parsing.hidden import Hidden, How
from corpus.suspicion import Kind

# Beside a document, under these names: its hidden text, and the hashes of the places somebody has read.
_HIDDEN, _READ = "hidden", "places_read"


@dataclass(frozen=True, slots=True)
class Place:
    """One place: what is suspicious, how it was hidden where it was, where it stands, and the words."""

    kind: Kind
    quote: str
    locator: str = ""
    how: How | None = None
    page: int | None = None

    @property
    def digest(self) -> str:
        """What the same words found in the same way have again."""
        return hashlib.sha256(f"{self.kind}\n{self.how}\n{self.quote}".encode()).hexdigest()


def of(document: Document) -> list[Place]:
    """Return the suspicious places of a document, by the rules of today."""
    rows = list(document.chunks.order_by("ordinal", "id").values_list("body", "locator"))
    hidden = hidden_of(document.extra)
    found = suspicion.found([body for body, _locator in rows])
    return [
        *(Place(one.kind, one.quote, rows[one.ordinal][1]) for one in found),
        *of_hidden(hidden),
    ]


def of_hidden(hidden: Sequence[Hidden]) -> list[Place]:
    """Return the suspicious places among hidden ones."""
    return [
        Place(one.kind, one.quote, "", hidden[one.ordinal].how, hidden[one.ordinal].page)
        for one in suspicion.hidden(hidden)
    ]


def unread(document: Document) -> list[Place]:
    """Return those that hold a document back: none of one that somebody vouches for."""
    if document.extra.get("vouched_for"):
        return []
    read = set(document.extra.get(_READ, ()))
    return [place for place in of(document) if place.digest not in read]


def hidden_of(extra: Mapping[str, Any]) -> tuple[Hidden, ...]:
    """Return the hidden text that is kept beside a document."""
    return wire.hidden_from_list(extra.get(_HIDDEN, []))


def with_hidden(extra: Mapping[str, Any], hidden: Sequence[Hidden]) -> dict[str, Any]:
    """Return what stands beside a document with `hidden` as its hidden text."""
    rest = {name: value for name, value in extra.items() if name != _HIDDEN}
    return rest | ({_HIDDEN: wire.hidden_to_list(hidden)} if hidden else {})


def with_read(extra: Mapping[str, Any], read: Iterable[Place]) -> dict[str, Any]:
    """Return what stands beside a document with `read` added to what a person has read."""
    known = set(extra.get(_READ, ())) | {place.digest for place in read}
    return {**extra, _READ: sorted(known)} if known else dict(extra)
