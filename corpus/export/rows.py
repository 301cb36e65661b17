"""What an export says of documents, passages and citations. Everything starts within the scope."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from corpus.models import Chunk, Document, DocumentCitation
from corpus.scope import RetrievalScope

Row = dict[str, Any]

_AT_ONCE = 500


class OutOfScope(RuntimeError):
    """A row belongs to no exported document: the export ends without leaving anything behind."""


@dataclass(frozen=True, slots=True)
class Held:
    """The exported documents: what rows may point at, by id and by DOI."""

    ids: frozenset[Any]
    by_doi: dict[str, str]


def held(scope: RetrievalScope) -> Held:
    """Return the documents that `scope` allows."""
    rows = list(Document.objects.within(scope).order_by("id").values_list("pk", "doi_normalised", "status"))
    # Of two versions of a work the current one is what a citation leads to.
    by_doi = {doi: str(key) for key, doi, status in rows if doi and status == Document.Status.SUPERSEDED}
    by_doi |= {doi: str(key) for key, doi, status in rows if doi and status == Document.Status.CURRENT}
    return Held(frozenset(key for key, _, _ in rows), by_doi)


def documents(scope: RetrievalScope, within: Held) -> Iterator[Row]:
    """Yield every document, by the hash of its text."""
    rows = Document.objects.within(scope).select_related("source").order_by("content_sha256")
    for document in rows.iterator(_AT_ONCE):
        _require(document.pk, within)
        source = document.source
        successor = document.superseded_by_id if document.superseded_by_id in within.ids else None
        yield {
            "id": str(document.pk),
            "title": document.title,
            "authors": [str(name) for name in document.authors],
            "year": document.year,
            "doi": document.doi_normalised,
            "journal": document.journal,
            "url": document.url,
            "language": document.language,
            "bucket": document.bucket,
            "license_class": document.license_class,
            "license_source": document.license_source,
            "no_derivatives": document.no_derivatives,
            "rights_statement": document.rights_statement,
            "version": document.version_label,
            "status": document.status,
            "superseded_by": "" if successor is None else str(successor),
            "retracted": source is not None and source.is_retracted,
            "concern": source is not None and source.has_concern,
            "corrected": source is not None and source.is_corrected,
            "changed_since_ingested": document.fixity,
            "content_sha256": document.content_sha256,
            "file_sha256": document.file_sha256,
            "media_type": document.media_type,
            "pages": document.page_count,
            "passages": document.chunk_count,
            "parser": document.parser,
            "ingested_at": document.ingested_at.isoformat(),
        }


def passages(scope: RetrievalScope, within: Held) -> Iterator[Row]:
    """Yield every passage, in the order of the documents and of the text."""
    rows = Chunk.objects.within(scope).defer("content", "search_vector", "search_heading", "search_body")
    for chunk in rows.order_by("document__content_sha256", "ordinal").iterator(_AT_ONCE):
        _require(chunk.document_id, within)
        yield {
            "id": str(chunk.public_id),
            "document": str(chunk.document_id),
            "ordinal": chunk.ordinal,
            "section_path": [str(name) for name in chunk.section_path],
            "locator": chunk.locator,
            "page_start": chunk.page_start,
            "page_end": chunk.page_end,
            "boxes": [[float(edge) for edge in box] for box in chunk.boxes],
            "is_table": chunk.is_table,
            "language": chunk.language,
            "tokens": chunk.token_count,
            "citation_unit": chunk.citation_unit,
            "content_sha256": chunk.content_sha256,
            "text": chunk.body,
        }


def citations(scope: RetrievalScope, within: Held) -> Iterator[Row]:
    """Yield every entry of the reference lists; `cites` is the document it leads to, if exported."""
    rows = DocumentCitation.objects.filter(citing__in=Document.objects.within(scope).values("id"))
    for entry in rows.order_by("citing__content_sha256", "ordinal").iterator(_AT_ONCE):
        _require(entry.citing_id, within)
        yield {
            "document": str(entry.citing_id),
            "ordinal": entry.ordinal,
            "text": entry.text,
            "doi": entry.doi_normalised,
            "cites": within.by_doi.get(entry.doi_normalised, ""),
        }


def _require(document: Any, within: Held) -> None:
    """Hold each row against the documents once more, as retrieval does with what its layers return."""
    if document not in within.ids:
        raise OutOfScope("A row outside the scope was about to be exported. Nothing was written.")
