"""The bodies of answers and notes, as the API's description has them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from corpus.api.shapes import LicenseName, Page, Told
from retrieval.api.shapes import Search

EngineName = Literal["model", "extractive"]
NoteKind = Literal["finding", "question", "decision", "method", "idea"]


class OtherVersionLine(Told):
    """One line about another version of a source's work."""

    id: UUID
    document_id: UUID
    line: str
    reason: str


class Cited(Told):
    """A numbered source that the text cites; `marks` are where, as offsets into the text."""

    number: int
    id: UUID
    document_id: UUID
    title: str
    citation: str
    doi: str
    locator: str
    section_path: list[str]
    page_start: int | None
    page_end: int | None
    license_class: LicenseName
    content_sha256: str
    badges: list[str]
    other_versions: list[OtherVersionLine]
    marks: list[list[int]]


class Tokens(Told):
    """What a model read and wrote, as its provider counts; null where none was asked."""

    prompt: int | None
    completion: int | None


class AnswerTold(Search):
    """An answer with the search it stands on. `items[n - 1]` is the source with the number n."""

    answer_id: UUID
    question: str
    answer: str
    answered: bool = Field(description="False for a refusal: the sources do not cover the question.")
    state: str
    finish: str
    engine: EngineName
    model: str
    citations: list[Cited]
    findings: list[dict[str, Any]] = Field(description="What the check of each sentence noticed.")
    compression: dict[str, Any] | None
    withheld: list[int] = Field(
        description="Numbers of sources whose licence keeps them from the model; they are quoted instead."
    )
    tokens: Tokens
    timings: dict[str, float]


class NoteSource(Told):
    """A numbered work behind a note. Of one that the key may not see there is number and relationship."""

    number: int
    relationship: str
    available: bool
    withdrawn: bool = False
    identifier: str = ""
    title: str = ""
    authors: list[str] = []
    year: int | None = None
    journal: str = ""
    document: UUID | None = None
    status: list[str] = []
    checked_at: datetime | None = None
    check_failed: bool = False


class Note(Told):
    """A note with its works, as far as the key may see them."""

    id: UUID
    kind: NoteKind
    title: str
    text: str
    owner: str | None
    shared: bool
    answer: UUID | None
    created_at: datetime
    changed_at: datetime
    sources: list[NoteSource]


class NotePage(Page):
    """A part of the notes that the key's owner may read."""

    items: list[Note]
