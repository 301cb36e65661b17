"""Putting documents into the corpus, and reconciling what is said about one that is held already."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING, Any

import pghistory
from django.db import IntegrityError, transaction

from corpus import fingerprint, identity, places, suspicion, vectors
from corpus.actions import license_suggestions, review, rights
from corpus.actions.quarantine import SUSPICIOUS
from corpus.bibliography import works
from corpus.chunking import Passage
from corpus.gateways.embedding import Vectors
from corpus.identifiers import normalise_doi
from corpus.models import Chunk, Document, DocumentCitation, EmbeddingVersion, RightsDecision, Source
from corpus.preparation import Metadata, Prepared
from corpus.rights import LicenseClass, parse_class, raises
from corpus.search_text import search_form

if TYPE_CHECKING:
    from django.contrib.auth.models import User

_BATCH = 200


class AlreadyHeld(Exception):
    """The same text or file is in the corpus."""

    def __init__(self, document: Document) -> None:
        super().__init__(f"already held as {document.pk}")
        self.document = document


def store(
    *,
    prepared: Prepared,
    vectors_of_passages: Vectors | None,
    version: EmbeddingVersion,
    bucket: str,
    by: User | None = None,
) -> Document:
    """Store a document with all its passages, vectors, references, source and rights decision.

    What it says about its rights becomes a suggestion where no class was declared.

    All or nothing, in one transaction. Raises `AlreadyHeld` when somebody else stored the same text
    first, be it a moment ago, and `VersionSwitched` when `version` is no longer the active one.
    """
    context = {"reason": "Taken into the corpus"} | ({} if by is None else {"user": by.pk})
    try:
        with transaction.atomic():
            with pghistory.context(**context):
                document = _stored(prepared, vectors_of_passages, version, bucket, by)
            if document.license_source or document.rights_statement:
                license_suggestions.suggest(document)
            works.hold_named(document, prepared.entry.described.identifier)
    except IntegrityError:
        held = Document.objects.filter(content_sha256=prepared.content_sha256).first()
        if held is None:
            raise
        raise AlreadyHeld(held) from None
    return document


def _stored(
    prepared: Prepared,
    vectors_of_passages: Vectors | None,
    version: EmbeddingVersion,
    bucket: str,
    by: User | None,
) -> Document:
    vectors.hold_active(version)
    document = _document(prepared, bucket)
    document.save(force_insert=True)
    _declare_license(document, prepared, by)
    store_references(document, prepared)
    chunks = Chunk.objects.bulk_create(
        [build_chunk(document, passage) for passage in prepared.passages], batch_size=_BATCH
    )
    document.passages_sha256 = fingerprint.seal_passages(document.pk)
    if vectors_of_passages is not None:
        vectors.store(version=version, chunks=chunks, vectors=vectors_of_passages)
    return document


def class_at_intake(prepared: Prepared) -> LicenseClass:
    """Return the licence class that a document begins with."""
    is_embargoed = bool(prepared.entry.described.embargo_until)
    return LicenseClass.RESTRICTED if is_embargoed else prepared.metadata.license_class


def _document(prepared: Prepared, bucket: str) -> Document:
    metadata, until = prepared.metadata, prepared.entry.described.embargo_until
    return Document(
        source=_source(metadata),
        title=metadata.title,
        authors=list(metadata.authors),
        year=metadata.year,
        doi=metadata.doi,
        journal=metadata.journal,
        url=metadata.url,
        language=metadata.language,
        bucket=bucket,
        license_class=class_at_intake(prepared).value,
        embargoed_until=date.fromisoformat(until) if until else None,
        license_source=metadata.license_source,
        rights_statement=metadata.rights_statement,
        no_derivatives=metadata.no_derivatives,
        version_label=metadata.version_label,
        file_sha256=prepared.file_sha256,
        file_name=prepared.entry.original_name,
        extra=_extra(prepared),
        **as_parsed(prepared),
    )


def as_parsed(prepared: Prepared) -> dict[str, Any]:
    """Return what parsing decides about a document, by the names of its fields."""
    parsed = prepared.parsed
    quality: dict[str, Any] = {**parsed.quality}
    if parsed.warnings:
        quality["warnings"] = list(parsed.warnings)
    return {
        "content_sha256": prepared.content_sha256,
        "media_type": parsed.media_type,
        "page_count": parsed.page_count,
        "chunk_count": len(prepared.passages),
        "parser": parsed.parser,
        "parse_quality": quality,
        "scanned_under": suspicion.VERSION,
        **_state(prepared),
    }


def _extra(prepared: Prepared) -> dict[str, Any]:
    said = prepared.entry.described.vouched_for
    extra = {"chunking": asdict(prepared.chunking)} | ({"vouched_for": said} if said else {})
    return places.with_hidden(extra, prepared.parsed.hidden)


def _state(prepared: Prepared) -> dict[str, str]:
    if prepared.needs_ocr:
        return {"state": Document.State.NEEDS_OCR, "state_reason": "no_text"}
    if is_suspicious(prepared):
        return {"state": Document.State.QUARANTINED, "state_reason": SUSPICIOUS}
    return {"state": Document.State.READY, "state_reason": ""}


def is_suspicious(prepared: Prepared) -> bool:
    """Say whether the text speaks to machines, so that a person has to read it first, and none has."""
    if prepared.entry.described.vouched_for:
        return False
    passages = [passage.body for passage in prepared.passages]
    return bool(suspicion.found(passages) or suspicion.hidden(prepared.parsed.hidden))


def _source(metadata: Metadata) -> Source:
    """Return the record of the work: the one with this DOI, filled in where it was only cited, or a new one.

    A work without an identifier has its record too, since a person may have something to say about it.
    """
    values = {
        "title": metadata.title,
        "authors": list(metadata.authors),
        "year": metadata.year,
        "container": metadata.journal,
        "url": metadata.url,
    }
    doi = normalise_doi(metadata.doi)
    if doi is None:
        return Source.objects.create(**values)
    source, is_new = Source.objects.get_or_create(
        identifier_type=Source.IdentifierType.DOI, identifier_value=doi, defaults=values
    )
    if not is_new and not source.title:
        for name, value in values.items():
            setattr(source, name, getattr(source, name) or value)
        source.save(update_fields=list(values))
    return source


def _declare_license(document: Document, prepared: Prepared, by: User | None) -> None:
    if document.license_class == LicenseClass.UNKNOWN:
        return
    until = document.embargoed_until
    RightsDecision.objects.create(
        document=document,
        document_title=document.title,
        from_class=LicenseClass.UNKNOWN.value,
        to_class=document.license_class,
        signal=document.license_source,
        evidence="" if until is None else f"Embargo until {until:%Y-%m-%d}",
        process="manifest" if prepared.entry.line is not None else "ingest",
        decided_by=by,
        decided_by_name="" if by is None else by.get_username(),
        note="Declared when the document was taken in",
    )


def store_references(document: Document, prepared: Prepared) -> None:
    """Store the entries of the document's own reference list."""
    DocumentCitation.objects.bulk_create(
        [
            DocumentCitation(
                citing=document,
                ordinal=number,
                text=reference.text,
                doi_normalised=(normalise_doi(reference.doi) or "")[:500],
            )
            for number, reference in enumerate(prepared.parsed.references, start=1)
        ],
        batch_size=_BATCH,
    )


def build_chunk(document: Document, passage: Passage) -> Chunk:
    """Return the row of a passage, not saved yet."""
    return Chunk(
        document=document,
        ordinal=passage.ordinal,
        body=passage.body,
        content=passage.content,
        section_path=list(passage.section_path),
        locator=passage.locator,
        page_start=passage.page_start,
        page_end=passage.page_end,
        boxes=[
            [box.page, *(round(edge, 4) for edge in (box.left, box.top, box.right, box.bottom))]
            for box in passage.boxes
        ],
        is_table=passage.is_table,
        token_count=passage.token_count,
        citation_unit=passage.citation_unit,
        forward_references=list(passage.forward_references),
        content_sha256=identity.body_sha256(passage.body),
        rank_key=identity.rank_key(document.content_sha256, passage.ordinal),
        language=document.language,
        search_heading=search_form(" ".join([document.title, *passage.section_path])),
        search_body=search_form(passage.body),
    )


def reconcile_license(*, document: Document, declared: LicenseClass | None, signal: str) -> tuple[str, str]:
    """Apply a stricter class declared for a document that is held; return a code and a sentence about it.

    A looser one becomes a suggestion: software lowers rights, a person raises them.
    """
    held = parse_class(document.license_class)
    if declared is None or declared is held:
        return "", ""
    if raises(held, declared):
        review.suggest_license(document=document, license_class=declared, signal=signal)
        return "looser_license_declared", (
            f"It is held as {held}; {declared} was declared, which allows more: a person must raise it."
        )
    rights.lower_license(document=document, license_class=declared, process="manifest", signal=signal)
    return "license_lowered", f"Its licence class was lowered from {held} to {declared}, as declared."
