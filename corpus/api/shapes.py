"""The bodies of answers about the corpus, as the API's description has them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

# Written out, so that the description lists them; a test holds them against the classes there are.
LicenseName = Literal["public", "open_commercial", "open_noncommercial", "restricted", "unknown"]
Badge = Literal["retracted", "concern", "corrected", "superseded", "changed"]


class Told(BaseModel):
    """What an answer says."""

    model_config = ConfigDict(frozen=True)


class FieldProblem(Told):
    """What is wrong with one field of a request."""

    field: str
    message: str


class ProblemTold(Told):
    """Why something was not done, by RFC 9457."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="An address that names the kind of problem; `code` says the same.")
    title: str
    status: int
    detail: str
    code: str = Field(description="Stable: programs may rely on it.")
    errors: list[FieldProblem] = Field(default=[], description="Where the fields of the request are wrong.")


class Page(Told):
    """The head of a part of a list. The order is the same on every page."""

    count: int = Field(description="How many there are on all pages.")
    page: int
    page_size: int


class DocumentShort(Told):
    """A document as a list has it."""

    id: UUID
    title: str
    authors: list[str]
    year: int | None
    journal: str
    doi: str
    url: str
    bucket: str
    license_class: LicenseName
    no_derivatives: bool
    version_label: str
    status: str = Field(description="`current`, or `superseded` by a newer version.")
    badges: list[Badge] = Field(description="What is to be known of the document's standing.")


class DocumentPage(Page):
    """A part of the documents that the key may see."""

    items: list[DocumentShort]


class DocumentWhole(DocumentShort):
    """A document with the ids of its passages in reading order."""

    language: str
    media_type: str
    page_count: int | None
    content_sha256: str
    ingested_at: datetime
    superseded_by: UUID | None = Field(description="Where it is a document that the key may see.")
    supersedes: list[UUID]
    source: UUID | None
    chunks: list[UUID]


class Passage(Told):
    """A passage, word for word, with where it stands."""

    id: UUID
    document: DocumentShort
    ordinal: int
    section_path: list[str]
    locator: str
    page_start: int | None
    page_end: int | None
    is_table: bool
    body: str
    content_sha256: str
    previous: UUID | None
    next: UUID | None


class Work(Told):
    """A work of which the key may see a document."""

    id: UUID
    identifier_type: str
    identifier: str
    title: str
    authors: list[str]
    year: int | None
    journal: str
    retracted: bool
    concern: bool
    corrected: bool
    documents: list[UUID]


class WorkPage(Page):
    """A part of these works."""

    items: list[Work]


class Status(Told):
    """What the key works with."""

    status: Literal["ok"]
    version: str
    documents: int = Field(description="How many the key may see.")
    passages: int
    fingerprint: str = Field(description="Of the corpus that the key may see.")
    embedding_version: str
    model: str = Field(description="The language model that answers; empty where there is none.")
    license_classes: list[LicenseName] = Field(description="What the key may see.")
    buckets: list[str] | None = Field(description="Null for all of them.")
    permissions: list[str]
    requests_per_minute: int


class Health(Told):
    """That the site answers."""

    status: Literal["ok"]


class Licenses(Told):
    """How many documents each licence class has."""

    documents: dict[str, int]
    safe_to_publish: bool


class Counts(Told):
    """How much there is."""

    documents: int
    passages: int
    citations: int


class CorpusManifest(Told):
    """What an export of the corpus would say of itself, as far as the key may see it."""

    program: str
    fingerprint: str
    embedding_version: str
    scope: dict[str, Any]
    licenses: Licenses
    counts: Counts


class FileLine(Told):
    """What became of one file that was sent."""

    name: str
    verdict: Literal["accepted", "duplicate", "refused"]
    code: str
    detail: str
    document: UUID | None


class Ingested(Told):
    """What became of an upload: the run that reads the files, if there is one, and a line for each."""

    run: UUID | None
    files: list[FileLine]


class RunFile(Told):
    """One file of a run."""

    path: str
    outcome: str
    reason: str
    detail: str
    document: UUID | None


class Run(Page):
    """How far a run is, in the files that the key may know of; `count` is how many these are."""

    id: UUID
    state: str
    started_at: datetime
    finished_at: datetime | None
    counts: dict[str, int]
    items: list[RunFile]
