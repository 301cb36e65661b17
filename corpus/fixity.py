"""Whether what is kept is still what was taken in: originals by their hash, passages by theirs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from uuid import UUID

import structlog
from django.db.models import F, QuerySet
from django.utils import timezone

from corpus import connections, storage
from corpus.audit.recording import Kind, record
from corpus.identity import body_sha256
from corpus.models import Document

logger = structlog.get_logger(__name__)

Fixity = Document.Fixity
CYCLE = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Checked:
    """What one check found. `was` is what the check before found."""

    document: UUID
    title: str
    fixity: Fixity
    was: Fixity


def look_at(document: Document) -> Fixity:
    """Compare a document's original and passages with their hashes. Holds no connection while it reads."""
    for chunk in document.chunks.only("body", "content_sha256").order_by("ordinal").iterator(200):
        if body_sha256(chunk.body) != chunk.content_sha256:
            return Fixity.PASSAGES_CHANGED
    connections.release()
    try:
        actual = storage.hash_file(storage.path_of(document.file_sha256))
    except FileNotFoundError:
        return Fixity.ORIGINAL_MISSING
    except OSError:
        # A link, a folder, a damaged sector: whatever it is, it is not the file that was taken in.
        return Fixity.ORIGINAL_CHANGED
    return Fixity.UNCHANGED if actual == document.file_sha256 else Fixity.ORIGINAL_CHANGED


def verify(documents: QuerySet[Document]) -> Iterator[Checked]:
    """Check `documents` one by one, keep what was found, and yield it."""
    for key in list(documents.values_list("pk", flat=True)):
        document = Document.objects.only("title", "file_sha256", "fixity").filter(pk=key).first()
        if document is None:
            continue
        was, now = Fixity(document.fixity), look_at(document)
        note(document=key, found=now)
        yield Checked(key, document.title, now, was)


def note(*, document: UUID, found: Fixity) -> None:
    """Keep what a look at a document's files found, and log it where that is news."""
    # Whoever looks at the same moment finds the same: the log may say it twice.
    was = Document.objects.filter(pk=document).values_list("fixity", flat=True).first()
    Document.objects.filter(pk=document).update(fixity=found, fixity_checked_at=timezone.now())
    if was is not None and found != was:
        logger.warning("fixity.changed", document=str(document), was=was, now=found.value)
        record(Kind.FIXITY, by=None, about={"document": str(document), "was": was, "now": found.value})


def verify_due(*, seconds: float) -> int:
    """Check what was not checked for longest, for at most `seconds`; return how many.

    Called by the clock, it comes round the whole corpus; what was checked within a day is left alone.
    """
    started, count = monotonic(), 0
    due = due_before(timezone.now() - timedelta(days=1))
    for _ in verify(due):
        count += 1
        if monotonic() - started > seconds:
            break
    return count


def due_before(moment: object) -> QuerySet[Document]:
    """Return the documents not checked since `moment`, those that never were first."""
    never = Document.objects.filter(fixity_checked_at__isnull=True)
    before = never | Document.objects.filter(fixity_checked_at__lt=moment)
    return before.order_by(F("fixity_checked_at").asc(nulls_first=True), "id")


def overdue() -> int:
    """Count documents older than a whole cycle that no check reached in it."""
    start = timezone.now() - CYCLE
    return due_before(start).filter(ingested_at__lt=start).count()
