"""Documents, passages and works, as far as a key may see them."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import Http404, HttpResponse
from pydantic import Field
from rest_framework.request import Request

from corpus import browsing, ceilings
from corpus.api.problems import Code
from corpus.api.requests import Paging, Whole
from corpus.api.schema import Operation, describes
from corpus.api.shapes import DocumentPage, DocumentShort, DocumentWhole, LicenseName, Passage, Work, WorkPage
from corpus.api.views import ApiView, reply
from corpus.keys.permissions import Permission
from corpus.models import Chunk, Document, Source
from corpus.scope import RetrievalScope

TAG = "Corpus"
_READ = {"GET": Permission.READ}
_Year = Annotated[Whole, Field(ge=1000, le=2999)]


class DocumentParameters(Paging):
    """Which documents."""

    q: str | None = Field(default=None, max_length=300, description="Words of title or author, or a DOI.")
    license_class: LicenseName | None = None
    bucket: str | None = Field(default=None, max_length=100)
    year_min: _Year | None = None
    year_max: _Year | None = None
    standing: Literal["current", "superseded", "retracted"] | None = None


class SourceParameters(Paging):
    """Which works."""

    q: str | None = Field(default=None, max_length=300, description="Words of a title, or an identifier.")


class Documents(ApiView):
    """The documents."""

    permissions = _READ
    parameters = DocumentParameters

    @describes(
        Operation(
            "list_documents", "List and search documents", DocumentPage, TAG, parameters=DocumentParameters
        )
    )
    def get(self, request: Request) -> HttpResponse:
        """List what matches, by title."""
        wanted = self.wanted(DocumentParameters)
        visible = Document.objects.within(scope_of(self))
        found = browsing.matching(visible, wanted.model_dump(exclude={"page", "page_size"}))
        rows = found.select_related("source").order_by("title", "id")[wanted.part]
        items = [short(row) for row in rows]
        return reply(
            DocumentPage(count=found.count(), page=wanted.page, page_size=wanted.page_size, items=items)
        )


class OneDocument(ApiView):
    """A document."""

    permissions = _READ

    @describes(Operation("get_document", "Read a document", DocumentWhole, TAG, codes=(Code.NOT_FOUND,)))
    def get(self, request: Request, document_id: UUID) -> HttpResponse:
        """Show what is known of it, and name its passages."""
        return reply(whole(document_id, scope_of(self)))


class OneChunk(ApiView):
    """A passage."""

    permissions = _READ

    @describes(Operation("get_chunk", "Read a passage", Passage, TAG, codes=(Code.NOT_FOUND,)))
    def get(self, request: Request, passage_id: UUID) -> HttpResponse:
        """Show it, word for word."""
        return reply(passage(passage_id, scope_of(self)))


class Sources(ApiView):
    """The works behind the documents."""

    permissions = _READ
    parameters = SourceParameters

    @describes(
        Operation(
            "list_sources", "List the works behind documents", WorkPage, TAG, parameters=SourceParameters
        )
    )
    def get(self, request: Request) -> HttpResponse:
        """List works with their editorial standing, by identifier."""
        wanted = self.wanted(SourceParameters)
        visible = Document.objects.within(scope_of(self))
        found = browsing.works(visible, wanted.q or "")
        rows = list(found.order_by("identifier_type", "identifier_value", "id")[wanted.part])
        held: dict[UUID, list[Document]] = {row.pk: [] for row in rows}
        # The current version first: what it says of itself is what is shown of the work.
        for document in visible.filter(source__in=rows).order_by("status", "-ingested_at", "id"):
            held[document.source_id].append(document)  # type: ignore[index]
        items = [_work(row, held[row.pk]) for row in rows if held[row.pk]]
        return reply(WorkPage(count=found.count(), page=wanted.page, page_size=wanted.page_size, items=items))


def scope_of(view: ApiView) -> RetrievalScope:
    """Return all that the key may see."""
    return ceilings.effective_scope(view.caller.user, RetrievalScope())


def whole(document_id: UUID, scope: RetrievalScope) -> DocumentWhole:
    """Return what is known of a document, with its passages; raise `Http404` for one out of scope."""
    found = browsing.readable_document(scope, document_id)
    if found is None:
        raise Http404
    visible = Document.objects.within(scope)
    newer = visible.filter(id=found.superseded_by_id) if found.superseded_by_id else visible.none()
    older = visible.filter(superseded_by=found).order_by("-year", "id")
    chunks = found.chunks.order_by("ordinal", "id").values_list("public_id", flat=True)
    return DocumentWhole(
        **_facts(found),
        language=found.language,
        media_type=found.media_type,
        page_count=found.page_count,
        content_sha256=found.content_sha256,
        ingested_at=found.ingested_at,
        superseded_by=newer.values_list("pk", flat=True).first(),
        supersedes=list(older.values_list("pk", flat=True)),
        source=found.source_id,
        chunks=list(chunks),
    )


def passage(passage_id: UUID, scope: RetrievalScope) -> Passage:
    """Return a passage, word for word; raise `Http404` for one out of scope."""
    found = browsing.readable_passage(scope, passage_id)
    if found is None:
        raise Http404
    return Passage(
        id=found.public_id,
        document=short(found.document),
        ordinal=found.ordinal,
        section_path=[str(part) for part in found.section_path],
        locator=found.locator,
        page_start=found.page_start,
        page_end=found.page_end,
        is_table=found.is_table,
        body=found.body,
        content_sha256=found.content_sha256,
        previous=_beside(found, -1),
        next=_beside(found, +1),
    )


def short(document: Document) -> DocumentShort:
    """Return a document as a list has it."""
    return DocumentShort(**_facts(document))


def _facts(document: Document) -> dict[str, Any]:
    return {
        "id": document.pk,
        "title": document.title,
        "authors": [str(name) for name in document.authors],
        "year": document.year,
        "journal": document.journal,
        "doi": document.doi,
        "url": document.url,
        "bucket": document.bucket,
        "license_class": document.license_class,
        "no_derivatives": document.no_derivatives,
        "version_label": document.version_label,
        "status": document.status,
        "badges": browsing.badges(document),
    }


def _beside(passage: Chunk, step: int) -> UUID | None:
    beside = passage.document.chunks.filter(ordinal=passage.ordinal + step)
    return beside.order_by("id").values_list("public_id", flat=True).first()


def _work(source: Source, documents: list[Document]) -> Work:
    first = documents[0]
    return Work(
        id=source.pk,
        identifier_type=source.identifier_type,
        identifier=source.identifier_value,
        title=first.title,
        authors=[str(name) for name in first.authors],
        year=first.year,
        journal=first.journal,
        retracted=source.is_retracted,
        concern=source.has_concern,
        corrected=source.is_corrected,
        documents=[document.pk for document in documents],
    )
