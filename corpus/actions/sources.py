"""Registering works that are named without being held, and letting records go that nothing needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

import pghistory
from django.db import connection, transaction
from django.db.models import ProtectedError, Value
from django.db.models.functions import Upper

from corpus.models import Source

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# With the title's hash: two people who name the same title at once get one record.
_TITLES_LOCK = 7_204
_REASON = "Named by a person"
_BATCH = 500


class Name(NamedTuple):
    """What a person names a work by; a title alone where `kind` and `value` are empty."""

    kind: str
    value: str
    title: str = ""


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


@transaction.atomic
def register_all(*, names: Iterable[Name], by: User | None) -> dict[Name, Source]:
    """Return the records of the works so named as `register` would, in a few statements for all of them."""
    wanted = sorted(set(names))
    context = {"reason": _REASON} | ({} if by is None else {"user": by.pk})
    with pghistory.context(**context):
        return _all_by_title([name for name in wanted if not name.kind]) | _all_by_identifier(
            [name for name in wanted if name.kind]
        )


def _all_by_identifier(names: Sequence[Name]) -> dict[Name, Source]:
    found = _identified(names)
    missing = [
        Source(identifier_type=name.kind, identifier_value=name.value) for name in names if name not in found
    ]
    if missing:
        # Whoever makes one of them at this moment is waited for; the record is then theirs.
        Source.objects.bulk_create(missing, ignore_conflicts=True, batch_size=_BATCH)
        found = _identified(names)
    return found


def _identified(names: Sequence[Name]) -> dict[Name, Source]:
    rows = Source.objects.filter(identifier_value__in=[name.value for name in names])
    known = {(row.identifier_type, row.identifier_value): row for row in rows}
    pairs = ((name, known.get((name.kind, name.value))) for name in names)
    return {name: row for name, row in pairs if row is not None}


def _all_by_title(names: Sequence[Name]) -> dict[Name, Source]:
    if not names:
        return {}
    titles = {name.title.casefold(): name.title for name in reversed(names)}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(%s, hashtext(title)) FROM unnest(%s::text[]) AS named (title)",
            [_TITLES_LOCK, sorted(titles)],
        )
    rows = (
        Source.objects.filter(identifier_value="", documents__isnull=True)
        .annotate(upper=Upper("title"))
        .filter(upper__in=[Upper(Value(title)) for title in titles.values()])
    )
    known: dict[str, Source] = {row.title.casefold(): row for row in rows.order_by("-first_seen_at", "-id")}
    missing = [Source(title=title) for folded, title in titles.items() if folded not in known]
    known |= {row.title.casefold(): row for row in Source.objects.bulk_create(missing, batch_size=_BATCH)}
    return {name: known[name.title.casefold()] for name in names}


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
