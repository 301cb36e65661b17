"""Taking the deletion of a note back, for an hour. What is kept of it meanwhile is what its owner wrote."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import structlog
from django.db import IntegrityError, transaction
from django.utils import timezone

from answers.models import Answer
from answers.notebook.actions import NoteGone, alive
from answers.notebook.deleted import LINK, WORDS
from answers.notebook.models import DeletedNote, Observation, ObservationSource
from corpus.actions import sources
from corpus.models import Document, Source

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

logger = structlog.get_logger(__name__)
UNDO_FOR = timedelta(hours=1)


def restorable(user: User | None) -> QuerySet[DeletedNote]:
    """Return the notes of `user` whose deletion can still be taken back."""
    return DeletedNote.objects.filter(owner=user, deleted_at__gt=timezone.now() - UNDO_FOR)


def forget_old() -> int:
    """Remove for good what can no longer be taken back; return how many notes."""
    return DeletedNote.objects.filter(deleted_at__lte=timezone.now() - UNDO_FOR).delete()[0]


@transaction.atomic
def restore(*, note_id: UUID, by: User | None) -> Observation:
    """Keep a note again that `by` deleted, at its address and with its numbers. Raises `NoteGone`.

    A work that was let go meanwhile is registered again by what named it; one that only an answer brought
    and that is gone leaves its number unused.
    """
    row = restorable(by).select_for_update().filter(pk=note_id).first()
    if row is None:
        raise NoteGone
    kept = row.note
    note = _note(row)
    try:
        with transaction.atomic():
            note.save(force_insert=True)
    except IntegrityError:
        # Its row was imported again meanwhile.
        note.imported_key = ""
        note.save(force_insert=True)
    ObservationSource.objects.bulk_create(_links(note, kept["links"], by))
    row.delete()
    logger.info("note.restored", note=str(note.pk), sources=len(kept["links"]))
    return note


def _note(row: DeletedNote) -> Observation:
    kept = row.note
    return Observation(
        pk=row.pk,
        owner_id=row.owner_id,
        answer=Answer.objects.filter(pk=kept["answer"]).first() if kept["answer"] else None,
        created_at=datetime.fromisoformat(kept["created_at"]),
        changed_at=datetime.fromisoformat(kept["changed_at"]),
        **{name: kept[name] for name in WORDS},
    )


def _links(note: Observation, links: list[Mapping[str, Any]], by: User | None) -> list[ObservationSource]:
    """Return the links to the works that there are, each work once."""
    there = {str(row.pk): row for row in alive(Source, [UUID(link["source"]) for link in links])}
    known = [UUID(link["document"]) for link in links if link["document"]]
    documents = {str(row.pk): row for row in alive(Document, known)}
    found: dict[UUID, ObservationSource] = {}
    for link in links:
        source = there.get(link["source"]) or _registered(link, by)
        if source is None or source.pk in found:
            continue
        found[source.pk] = ObservationSource(
            observation=note,
            source=source,
            document=documents.get(link["document"]),
            added_at=datetime.fromisoformat(link["added_at"]),
            **{name: link[name] for name in LINK},
        )
    return list(found.values())


def _registered(link: Mapping[str, Any], by: User | None) -> Source | None:
    """Return the work a person named, registered again; None for one that nobody did."""
    if not link["named"] and not link["named_title"]:
        return None
    kind, _, value = link["named"].partition(":")
    source, _ = sources.register(kind=kind, value=value, title="" if kind else link["named_title"], by=by)
    return source
