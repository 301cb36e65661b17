"""What goes into an extractor and what comes out. Nothing here is trusted before it was verified. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class Drop(StrEnum):
    """Why something an extractor suggested was left out."""

    NO_PASSAGE = "no_passage"
    MALFORMED = "malformed"
    TOO_MANY = "too_many"
    EMPTY_NAME = "empty_name"
    UNKNOWN_TYPE = "unknown_type"
    WRONG_ENDS = "wrong_ends"
    UNVERIFIED_MENTION = "unverified_mention"
    UNVERIFIED_ALIAS = "unverified_alias"
    UNVERIFIED_DESCRIPTION = "unverified_description"
    UNVERIFIED_QUOTE = "unverified_quote"
    DANGLING_END = "dangling_end"
    SELF_EDGE = "self_edge"
    MISSING_CONFIDENCE = "missing_confidence"


Drops = Counter[Drop]


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage to read."""

    chunk: int
    text: str
    content_sha256: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Passages of one document that are read together, and the texts of all of its passages."""

    document: str
    passages: tuple[Passage, ...]
    texts: tuple[str, ...]
    collection: str = ""


@dataclass(frozen=True, slots=True)
class SuggestedEntity:
    """What an extractor takes for a thing in the passage at this index of the batch."""

    passage: int
    name: str
    type: str
    aliases: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class SuggestedRelation:
    """What an extractor takes for said in a passage. Ends are names or aliases of its entities there."""

    passage: int
    source: str
    target: str
    type: str
    quote: str
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What an extractor made of a batch, and what it had to leave out already."""

    entities: tuple[SuggestedEntity, ...] = ()
    relations: tuple[SuggestedRelation, ...] = ()
    dropped: Drops = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Spot:
    """Words of a passage, verbatim but for white space, and where they start."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Found:
    """A thing that the passage names: who it is, and the spots where each spelling stands first."""

    type: str
    key: str
    name: str
    spots: tuple[Spot, ...]
    description: Spot | None


@dataclass(frozen=True, slots=True)
class Edge:
    """What the passage says holds between two things it names, by their type and key."""

    source: tuple[str, str]
    target: tuple[str, str]
    type: str
    quote: Spot
    confidence: float


@dataclass(frozen=True, slots=True)
class Verified:
    """What stands in one passage."""

    passage: Passage
    entities: tuple[Found, ...]
    edges: tuple[Edge, ...]


class BatchFailed(Exception):
    """An extractor could not read a batch; nothing of it is kept. `code` is stable, without content.

    `may_be_smaller` says that half of the batch might go through.
    """

    def __init__(self, code: str, *, may_be_smaller: bool = False) -> None:
        super().__init__(code)
        self.code = code
        self.may_be_smaller = may_be_smaller


class Extractor(Protocol):
    """Reads passages and suggests what they say."""

    @property
    def name(self) -> str:
        """Kind@digest: what it reads depends on, so that a change has everything read again."""

    @property
    def batch_limits(self) -> tuple[int, int]:
        """How many passages and characters it reads at once, at most."""

    def read(self, batch: Batch) -> Suggestions:
        """Return what the passages say; raise `BatchFailed`. Holds no database connection."""


def halves(batch: Batch) -> Sequence[Batch]:
    """Return the batch as two smaller ones."""
    middle = len(batch.passages) // 2
    return [
        Batch(batch.document, part, batch.texts, batch.collection)
        for part in (batch.passages[:middle], batch.passages[middle:])
        if part
    ]
