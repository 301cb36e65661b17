"""The bodies of answers about searches, as the API's description has them."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from corpus.api.shapes import LicenseName, Page, Told

StageState = Literal["ok", "empty", "timeout", "error", "skipped", "disabled", "denied"]


class EligibleTold(Told):
    """How much the request could see. `undated` documents were left out for having no year."""

    documents: int
    passages: int
    undated: int


class HistoryTold(Told):
    """Whether it was taken for a question about the past, and by what."""

    mode: str
    rule: str
    as_of: str
    words: str
    undated: int


class TwinTold(Told):
    """Where the same passage stands as well."""

    id: UUID
    document_id: UUID
    title: str
    citation: str


class OtherVersionTold(Told):
    """What another version of the work says, which was not shown by itself."""

    id: UUID
    document_id: UUID
    title: str
    version_label: str
    year: int | None
    locator: str
    says: str
    reason: str


class Found(Told):
    """A passage that was found, with its whole provenance."""

    id: UUID
    kind: str
    document_id: UUID
    document_sha256: str
    ordinal: int
    title: str
    section_path: list[str]
    locator: str
    page_start: int | None
    page_end: int | None
    body: str
    score: float
    ranks: dict[str, int] = Field(description="Its place in the list of each layer that found it.")
    license_class: LicenseName
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
    also_in: list[TwinTold]
    adjustments: list[str]
    other_versions: list[OtherVersionTold]
    badges: list[str]


class CommunityTold(Told):
    """A theme of the corpus, told by its summary. It leads to evidence and is none."""

    id: UUID
    rank: int
    level: int
    title: str
    body: str
    written_by: str
    documents: int
    members: int
    kind: str


class TraceTold(Told):
    """What happened in one stage of the search."""

    stage: str
    status: StageState
    milliseconds: float
    candidates: int
    mode: str
    reason: str
    eligible: int


class Search(Told):
    """What a search found and did."""

    request_id: str
    profile: str
    layers: list[str]
    scope: dict[str, Any] = Field(description="What was asked for, met with what the key may see.")
    eligible: EligibleTold
    history: HistoryTold
    items: list[Found]
    other_versions: list[OtherVersionTold]
    communities: list[CommunityTold]
    traces: list[TraceTold]
    degraded: list[str] = Field(description="The layers that failed or were late.")
    embedding_version: str
    fingerprint: str


class EntityTold(Told):
    """An entity as the passages that the key may see name it."""

    id: UUID
    name: str
    type: str
    spellings: list[str]
    merged: list[str]
    mentions: int
    documents: int


class EntityPage(Page):
    """A part of these entities."""

    items: list[EntityTold]
