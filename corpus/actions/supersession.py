"""Saying that a newer document takes the place of an older one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pghistory
from django.db import connection, transaction
from django.utils import timezone

from corpus.curation import ReviewItem
from corpus.models import Document

if TYPE_CHECKING:
    from uuid import UUID

    from django.contrib.auth.models import User

# Any number that nothing else in the product locks on.
_LOCK = 7_215_001


class SupersessionError(ValueError):
    """A supersession that may not be recorded. The message says why."""


@transaction.atomic
def supersede(*, old: Document, new: Document, by: User | None = None, note: str = "") -> bool:
    """Record that `new` takes the place of `old`; return whether that was news.

    Raises `SupersessionError` when `old` already has another successor or comes after `new` itself, and
    when `new` is held back.
    """
    _one_at_a_time()
    if new.state == Document.State.QUARANTINED:
        raise SupersessionError(f"“{new.title}” is held back until somebody has read it.")
    successors = dict(_successors())
    present = successors.get(old.pk)
    if present == new.pk:
        return False
    if present is not None:
        raise SupersessionError(f"“{old.title}” already has a successor. Undo that first.")
    _refuse_a_cycle(successors, old=old, new=new)
    with _context(by, note or "Superseded"):
        Document.objects.filter(pk=old.pk).update(status=Document.Status.SUPERSEDED, superseded_by=new.pk)
    old.refresh_from_db(fields=["status", "superseded_by"])
    _settle(old, by=by)
    return True


@transaction.atomic
def undo(*, document: Document, by: User | None = None, note: str = "") -> bool:
    """Make `document` current again; return whether it was superseded."""
    _one_at_a_time()
    superseded = Document.objects.filter(pk=document.pk, status=Document.Status.SUPERSEDED)
    with _context(by, note or "Supersession undone"):
        changed = superseded.update(status=Document.Status.CURRENT, superseded_by=None)
    document.refresh_from_db(fields=["status", "superseded_by"])
    return changed > 0


def _one_at_a_time() -> None:
    # Two people who each add one link could close a circle that neither sees: links are added in turn.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])


def _successors() -> list[tuple[UUID, UUID]]:
    linked = Document.objects.filter(superseded_by__isnull=False)
    return list(linked.order_by().values_list("id", "superseded_by_id"))


def _refuse_a_cycle(successors: dict[UUID, UUID], *, old: Document, new: Document) -> None:
    following: UUID | None = new.pk
    while following is not None:
        if following == old.pk:
            raise SupersessionError(f"“{old.title}” comes after “{new.title}” already.")
        following = successors.get(following)


def _settle(old: Document, *, by: User | None) -> None:
    """Close what was suggested about the successor of `old`: it has one now."""
    open_items = ReviewItem.objects.filter(
        document=old, kind=ReviewItem.Kind.SUPERSESSION, state=ReviewItem.State.OPEN
    )
    decided = {
        "decided_at": timezone.now(),
        "decided_by_id": None if by is None else by.pk,
        "decided_by_name": "" if by is None else by.get_username(),
    }
    open_items.filter(other=old.superseded_by_id).update(state=ReviewItem.State.ACCEPTED, **decided)
    note = "Another document took its place"
    open_items.update(state=ReviewItem.State.REJECTED, note=note, **decided)


def _context(by: User | None, reason: str) -> pghistory.context:
    return pghistory.context(reason=reason) if by is None else pghistory.context(user=by.pk, reason=reason)
