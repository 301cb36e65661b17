"""What the document pages read. Everything here starts from documents already within a scope."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from corpus.identifiers import fold, normalise_doi
from corpus.models import Chunk, Document, Source
from corpus.passages import joined
from corpus.querysets import DocumentQuerySet
from corpus.rights import LABELS, parse_class
from corpus.scope import Ceiling, RetrievalScope

SECTION_LIMIT = 40


@dataclass(frozen=True, slots=True)
class Facet:
    """A value one can filter by, with how many visible documents have it."""

    value: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage as it stands on a page, without what it repeats of its neighbours."""

    chunk: Chunk
    text: str
    is_target: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """Passages that follow each other under one heading."""

    path: tuple[str, ...]
    pieces: tuple[Piece, ...]

    @property
    def heading(self) -> str:
        return self.path[-1] if self.path else ""

    @property
    def above(self) -> tuple[str, ...]:
        """The headings over this one, outermost first."""
        return self.path[:-1]


def matching(documents: DocumentQuerySet, wanted: dict[str, Any]) -> DocumentQuerySet:
    """Keep the documents a filter form asks for."""
    if text := wanted.get("q"):
        documents = documents.filter(_mentions(text))
    for field in ("license_class", "bucket"):
        if value := wanted.get(field):
            documents = documents.filter(**{field: value})
    if (first := wanted.get("year_min")) is not None:
        documents = documents.filter(year__gte=first)
    if (last := wanted.get("year_max")) is not None:
        documents = documents.filter(year__lte=last)
    match wanted.get("standing"):
        case "current":
            documents = documents.filter(Q(source__isnull=True) | Q(source__is_retracted=False))
            documents = documents.filter(status=Document.Status.CURRENT)
        case "superseded":
            documents = documents.filter(status=Document.Status.SUPERSEDED)
        case "retracted":
            documents = documents.filter(source__is_retracted=True)
    return documents


def _mentions(text: str) -> Q:
    condition = Q(title__icontains=text) | Q(authors_folded__contains=fold(text))
    doi = normalise_doi(text)
    return condition | Q(doi_normalised=doi) if doi else condition


def license_facets(documents: DocumentQuerySet) -> list[Facet]:
    """Count the documents of each licence class."""
    rows = documents.order_by().values_list("license_class").annotate(n=Count("id"))
    counts = dict(rows)
    return [Facet(item.value, label, counts[item]) for item, label in LABELS.items() if item in counts]


def bucket_facets(documents: DocumentQuerySet) -> list[Facet]:
    """Count the documents of each collection."""
    rows = documents.order_by("bucket").values_list("bucket").annotate(n=Count("id"))
    return [Facet(name, name, count) for name, count in rows]


def sections(document: Document) -> list[Section]:
    """Return the document's passages under their headings, in reading order, nothing repeated."""
    return _grouped(list(document.chunks.defer("search_vector").order_by("ordinal", "id")))


def surroundings(chunk: Chunk) -> list[Section]:
    """Return the section the passage stands in, marked, cut to its neighbourhood when it is long."""
    window = (chunk.ordinal - SECTION_LIMIT, chunk.ordinal + SECTION_LIMIT)
    near = chunk.document.chunks.filter(ordinal__range=window).defer("search_vector")
    rows = list(near.order_by("ordinal", "id"))
    position = next(index for index, row in enumerate(rows) if row.pk == chunk.pk)
    first = last = position
    while first > 0 and rows[first - 1].section_path == chunk.section_path:
        first -= 1
    while last + 1 < len(rows) and rows[last + 1].section_path == chunk.section_path:
        last += 1
    return _grouped(rows[first : last + 1], target=chunk)


def _grouped(rows: list[Chunk], target: Chunk | None = None) -> list[Section]:
    keep = None if target is None else next(i for i, row in enumerate(rows) if row.pk == target.pk)
    texts = joined([row.body for row in rows], [tuple(row.section_path) for row in rows], keep=keep)
    found: list[tuple[tuple[str, ...], list[Piece]]] = []
    for index, (row, text) in enumerate(zip(rows, texts, strict=True)):
        path = tuple(row.section_path)
        if not found or found[-1][0] != path:
            found.append((path, []))
        found[-1][1].append(Piece(row, text, is_target=index == keep))
    return [Section(path, tuple(pieces)) for path, pieces in found]


def readable_document(scope: RetrievalScope, document_id: uuid.UUID) -> Document | None:
    """Return the document when `scope` allows it; None alike for one that is absent or not allowed."""
    return (
        Document.objects.within(scope)
        .select_related("source", "superseded_by")
        .filter(id=document_id)
        .first()
    )


def scanned_document(ceiling: Ceiling, document_id: uuid.UUID) -> Document | None:
    """Return a document without readable text, of which only the pages can be shown, under a ceiling.

    Such a document is in no list and no answer: a scope never allows it.
    """
    covered = Document.objects.under(ceiling).filter(state=Document.State.NEEDS_OCR, id=document_id)
    return covered.select_related("source", "superseded_by").first()


def readable_passage(scope: RetrievalScope, passage_id: uuid.UUID) -> Chunk | None:
    """Return the passage when `scope` allows its document; None alike for absent and not allowed."""
    return (
        Chunk.objects.within(scope)
        .select_related("document__source", "document__superseded_by")
        .defer("search_vector")
        .filter(public_id=passage_id)
        .first()
    )


def badges(document: Document) -> list[str]:
    """Return what a reader must know of a document's standing, gravest first."""
    found = []
    if document.source is not None:
        flags = document.source
        states = (
            ("retracted", flags.is_retracted),
            ("concern", flags.has_concern),
            ("corrected", flags.is_corrected),
        )
        found = [name for name, applies in states if applies]
    if document.status == Document.Status.SUPERSEDED:
        found.append("superseded")
    if document.fixity != Document.Fixity.UNCHANGED:
        found.append("changed")
    return found


def license_label(name: str) -> str:
    """Return the words for a licence class."""
    return LABELS[parse_class(name)]


def works(documents: DocumentQuerySet, text: str) -> QuerySet[Source]:
    """Return the works that `documents` are versions of; those named like `text`, when there is any.

    Searched is what these documents say, never what is known of the work besides.
    """
    if text:
        named = Q(title__icontains=text) | Q(source__identifier_value__icontains=text)
        doi = normalise_doi(text)
        documents = documents.filter(named | Q(doi_normalised=doi) if doi else named)
    return Source.objects.filter(pk__in=documents.filter(source__isnull=False).order_by().values("source"))
