"""Looking again at held documents by the rules of today, which may be younger than the documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

import structlog
from django.conf import settings

from corpus import connections, places, storage, suspicion
from corpus.actions import scanning
from corpus.models import Document
from corpus.parsing import sandbox
from corpus.parsing.blocks import ParseFailure
from corpus.parsing.hidden import Hidden
from corpus.parsing.limits import ParseLimits
from corpus.places import Place
from corpus.querysets import DocumentQuerySet

logger = structlog.get_logger(__name__)
State = Document.State


@dataclass(frozen=True, slots=True)
class Scanned:
    """One document: its suspicious places, whether they hold it back, or why it could not be looked into."""

    document: UUID
    title: str
    places: tuple[Place, ...] = ()
    is_held: bool = False
    reason: str = ""


def with_text() -> DocumentQuerySet:
    """Return the documents that have passages to look at."""
    return Document.objects.filter(state__in=[State.READY, State.QUARANTINED])


def due() -> DocumentQuerySet:
    """Return those not looked at by the rules of today."""
    return with_text().filter(scanned_under__lt=suspicion.VERSION)


def scan(documents: DocumentQuerySet, *, dry_run: bool = False) -> Iterator[Scanned]:
    """Look at `documents` one by one, hold back what has to wait for a person, and yield each.

    Each is kept before the next is begun: stopped and started again, what was done is not done again. A
    rehearsal writes nothing.
    """
    for key in list(documents.order_by("ingested_at", "id").values_list("pk", flat=True)):
        document = Document.objects.filter(pk=key).first()
        if document is not None:
            yield _scanned(document, dry_run=dry_run)


def _scanned(document: Document, *, dry_run: bool) -> Scanned:
    read_from = document.content_sha256
    try:
        hidden = look(document)
    except ParseFailure as failure:
        logger.warning("scan.not_looked_into", document=str(document.pk), code=failure.code)
        return Scanned(document.pk, document.title, reason=failure.code)
    document.extra = places.with_hidden(document.extra, hidden)
    found = tuple(places.of(document))
    if dry_run:
        is_held = document.state == State.READY and bool(places.unread(document))
    else:
        try:
            is_held = scanning.keep(document_id=document.pk, read_from=read_from, hidden=hidden)
        except Document.DoesNotExist:
            return Scanned(document.pk, document.title, reason="document_deleted")
    return Scanned(document.pk, document.title, found, is_held)


def look(document: Document) -> tuple[Hidden, ...]:
    """Return the hidden text of a document's original. Holds no connection while it reads.

    Raises `ParseFailure`, also for an original that is missing or not the one taken in.
    """
    path = storage.path_of(document.file_sha256)
    connections.release()
    try:
        is_original = storage.hash_file(path) == document.file_sha256
    except FileNotFoundError:
        raise ParseFailure("original_missing", "The original file is not there any more.") from None
    except OSError:
        is_original = False
    if not is_original:
        raise ParseFailure("original_changed", "The original file is not the one that was taken in.")
    limits = ParseLimits(max_bytes=settings.SCI_RAG_MAX_UPLOAD_MB * 1_000_000)
    return sandbox.hidden(path, media_type=document.media_type, limits=limits)
