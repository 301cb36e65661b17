"""Registering works that are named without being held, and letting records go that nothing needs."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

import pghistory
from django.db import connection, transaction
from django.db.models import ProtectedError

from corpus.models import Source

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# With the title's hash: two people who name the same title at once get one record.
_TITLES_LOCK = 7_204
_REASON = "Named by a person"


@transaction.atomic
def register(*, kind: str, value: str, title: str, by: User | None) -> tuple[Source, bool]:
    """Return the record of the work with this identifier, and whether it was made now.

    A record without a title gets `title`; one that has words keeps them. Without an identifier the title is
    what identifies the work, among those of which nothing is held.
    """
    context = {"reason": _REASON} | ({} if by is None else {"user": by.pk})
    with pghistory.context(**context):
        if not kind:
            return _by_title(title)
        source, is_new = Source.objects.get_or_create(
            identifier_type=kind, identifier_value=value, defaults={"title": title}
        )
        if title and not source.title:
            source.title = title
            source.save(update_fields=["title"])
    return source, is_new


def _by_title(title: str) -> tuple[Source, bool]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [_TITLES_LOCK, title.casefold()])
    known = Source.objects.filter(identifier_value="", title__iexact=title, documents__isnull=True)
    source = known.order_by("first_seen_at", "id").first()
    return (source, False) if source is not None else (Source.objects.create(title=title), True)


def let_go(source_id: UUID) -> None:
    """Let the record of a work go that lost its last document, in the transaction that took it away.

    Where something still refers to a record without an identifier, it stays and loses its words: they were
    the document's.
    """
    if not remove_unneeded(source_id):
        referred_to = Source.objects.filter(pk=source_id, identifier_value="", events__isnull=True)
        referred_to.filter(documents__isnull=True).update(
            title="", authors=[], container="", publisher="", url=""
        )


@transaction.atomic
def remove_unneeded(source_id: UUID) -> bool:
    """Remove a record that nothing can find again: no identifier, no document, no event, no reference.

    Return whether it is gone.
    """
    # Locked, so that whoever refers to it at this moment is seen, or finds it gone.
    source = Source.objects.select_for_update().filter(pk=source_id).first()
    if source is None:
        return True
    if source.identifier_value or source.documents.exists() or source.events.exists():
        return False
    try:
        source.delete()
    except ProtectedError:
        return False
    return True
