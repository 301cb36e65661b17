"""Holding a document back because of what it says to machines, and letting it go: each undoes the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pghistory
from django.db import transaction
from django.utils import timezone

from corpus import places
from corpus.actions import rights
from corpus.models import Document, Source
from corpus.signals import standing_changed

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SUSPICIOUS: Final = "suspicious_text"
BY_HAND: Final = "held_by_hand"

State = Document.State


class QuarantineError(ValueError):
    """What may not be held back or let go. The message says why."""


@transaction.atomic
def hold(*, document: Document, by: User, reason: str) -> bool:
    """Take `document` out of every search, page and answer; return whether it was not already.

    Raises `QuarantineError`, and `rights.NotAllowed` when the document is not `by`'s to change.
    """
    return _move(document, by, reason, start=State.READY, end=State.QUARANTINED, code=BY_HAND)


@transaction.atomic
def release(*, document: Document, by: User, reason: str) -> bool:
    """Put `document` back, its words being data; return whether it was held. Raises as `hold` does.

    The places it has today are read from then on: they do not hold it back again.
    """
    is_released = _move(document, by, reason, start=State.QUARANTINED, end=State.READY, code="")
    if is_released:
        document.refresh_from_db(fields=["extra"])
        document.extra = places.with_read(document.extra, places.of(document))
        document.save(update_fields=["extra"])
    return is_released


def say_so(document: Document) -> None:
    """Have whoever cites `document` told, once this is committed, that it is held back or is not any more."""
    source = document.source_id
    if source is not None:
        transaction.on_commit(lambda: standing_changed.send(sender=Source, source_id=source), robust=True)


def _move(document: Document, by: User, reason: str, *, start: str, end: str, code: str) -> bool:
    said = reason.strip()
    if not said:
        raise QuarantineError("Say why, for whoever reads the history later.")
    (row,) = rights.locked([document.pk])
    rights.require_may_change([row], by=by)
    if row.state == end:
        return False
    if row.state != start:
        raise QuarantineError("Only a document that could be searched is held back.")
    with pghistory.context(user=by.pk, reason=said):
        Document.objects.filter(pk=row.pk).update(state=end, state_reason=code, updated_at=timezone.now())
    document.refresh_from_db(fields=["state", "state_reason", "source"])
    say_so(document)
    return True
