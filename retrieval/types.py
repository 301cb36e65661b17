"""Values that pass between layers, fusion and the callers of retrieval."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from corpus.citation_units import pages_label
from corpus.scope import RetrievalScope
from retrieval.routing import Route


class StageStatus(StrEnum):
    OK = "ok"
    EMPTY = "empty"
    TIMEOUT = "timeout"
    ERROR = "error"
    SKIPPED = "skipped"
    DISABLED = "disabled"
    DENIED = "denied"


DEGRADED = frozenset({StageStatus.TIMEOUT, StageStatus.ERROR})


@dataclass(frozen=True, slots=True)
class StageTrace:
    """What happened in one stage. Content-free: safe to log, to store and to show.

    `eligible` is how many passages the stage could choose from, `mode` how it ranked them.
    """

    stage: str
    status: StageStatus
    milliseconds: float = 0.0
    candidates: int = 0
    mode: str = ""
    reason: str = ""
    eligible: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the trace as JSON values."""
        return {**asdict(self), "status": str(self.status)}


# Passages with a layer's scores, best first.
Scored = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class RankedList:
    """The candidates of one layer, best first, by the internal id of the passage.

    `communities` are those whose passages they are, for the layer that asks summaries. `scores` are there
    where a layer has some that mean the same in all its lists: one for each passage, more for better.
    """

    layer: str
    chunk_ids: tuple[int, ...] = ()
    mode: str = ""
    communities: tuple[UUID, ...] = ()
    scores: tuple[float, ...] = ()

    @classmethod
    def scored(cls, layer: str, rows: Scored, mode: str) -> RankedList:
        """Return the list of `rows`: passage and score, best first."""
        keys, scores = tuple(key for key, _ in rows), tuple(score for _, score in rows)
        return cls(layer, keys, mode, scores=scores)


@dataclass(frozen=True, slots=True)
class Eligible:
    """How much the scope lets the request see. `undated` documents were left out by a year bound."""

    documents: int = 0
    passages: int = 0
    undated: int = 0


@dataclass(frozen=True, slots=True)
class Twin:
    """Where the same passage stands as well."""

    id: str
    document_id: str
    title: str
    citation: str


@dataclass(frozen=True, slots=True)
class OtherVersion:
    """What another version of the same work says, where its own passage was demoted."""

    id: str
    document_id: str
    title: str
    version_label: str
    year: int | None
    locator: str
    says: str
    reason: str

    @property
    def name(self) -> str:
        """Return what to call the version: its own label, else its year, else its title."""
        return self.version_label or (f"version of {self.year}" if self.year else f"“{self.title}”")

    @property
    def line(self) -> str:
        """Return the version and what it says, in one line."""
        return (
            f"{self.name} said: {self.says}" if self.says else f"{self.name}: {self.locator or 'see there'}"
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks of versions: of `today`, of a `day`, `before` a revision, or of all alike (`even`).

    `rule` says how that was recognised and `words` by what: they are the question's, never for a log.
    `undated` versions have no date, so that it is not known whether they were in force.
    """

    mode: str = "today"
    rule: str = ""
    as_of: str = ""
    words: str = ""
    undated: int = 0


@dataclass(frozen=True, slots=True)
class Item:
    """One passage as it was retrieved, with the whole provenance a reader needs."""

    id: str
    chunk_pk: int
    kind: str
    document_id: str
    document_sha256: str
    ordinal: int
    title: str
    section_path: tuple[str, ...]
    locator: str
    page_start: int | None
    page_end: int | None
    body: str
    score: float
    ranks: dict[str, int]
    license_class: str
    no_derivatives: bool
    bucket: str
    citation: str
    doi: str
    year: int | None
    retracted: bool
    concern: bool
    corrected: bool
    superseded: bool
    superseded_by_id: str
    superseded_by_title: str
    embedding_version: str
    content_sha256: str
    indexed_at: str
    is_table: bool
    also_in: tuple[Twin, ...] = ()
    adjustments: tuple[str, ...] = ()
    other_versions: tuple[OtherVersion, ...] = ()

    @property
    def badges(self) -> tuple[str, ...]:
        """Return the names of what a reader must know about the document."""
        flags = {
            "retracted": self.retracted,
            "concern": self.concern,
            "corrected": self.corrected,
            "superseded": self.superseded,
        }
        return tuple(name for name, is_so in flags.items() if is_so)

    @property
    def pages(self) -> str:
        """Return the page or pages in words; empty when there are none."""
        return pages_label(self.page_start, self.page_end)

    def as_dict(self) -> dict[str, Any]:
        """Return the public form: no key of the database."""
        value = asdict(self)
        del value["chunk_pk"]
        return {**value, "badges": list(self.badges)}


@dataclass(frozen=True, slots=True)
class CommunityItem:
    """A group of entities that hang together, told by its summary. It leads to evidence and is none."""

    id: str
    rank: int
    level: int
    title: str
    body: str
    written_by: str
    documents: int
    members: int
    kind: str = "community"


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The answer of `retriever.retrieve`."""

    request_id: str
    profile: str
    scope: RetrievalScope
    eligible: Eligible
    items: tuple[Item, ...]
    traces: tuple[StageTrace, ...]
    degraded: tuple[str, ...]
    embedding_version: str
    fingerprint: str
    layers: tuple[str, ...]
    route: Route
    history: Asked = field(default_factory=Asked)
    # Of works none of whose other versions is among the items.
    other_versions: tuple[OtherVersion, ...] = ()
    communities: tuple[CommunityItem, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form shared by the command, the API and exports."""
        return {
            "request_id": self.request_id,
            "profile": self.profile,
            "layers": list(self.layers),
            "scope": self.scope.as_dict(),
            "eligible": asdict(self.eligible),
            "history": asdict(self.history),
            "items": [item.as_dict() for item in self.items],
            "other_versions": [asdict(other) for other in self.other_versions],
            "communities": [asdict(community) for community in self.communities],
            "traces": [trace.as_dict() for trace in self.traces],
            "degraded": list(self.degraded),
            "embedding_version": self.embedding_version,
            "fingerprint": self.fingerprint,
        }
