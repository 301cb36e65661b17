"""Keeping the graph still while somebody changes which entities are one.

Such acts happen one at a time. Each locks entities in order of id, as storing does, and waits for nothing
once it holds any: rows that a deletion is about to take are met with a rollback and another try, never with
waiting. So no two transactions can wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import wraps
from time import monotonic, sleep
from typing import Any, Final, ParamSpec, TypeVar
from uuid import UUID

from django.db import OperationalError, connection, transaction
from django.db.models import Q
from psycopg.errors import LockNotAvailable

from retrieval.graph.joining import Edge
from retrieval.graph.models import Entity, Relationship

P = ParamSpec("P")
T = TypeVar("T")

# Any number that no other advisory lock of the database has.
_LOCK: Final = 7_201_844_015
_PATIENCE: Final = 15.0
_PAUSE: Final = 0.05
_EDGE = ("id", "source_id", "target_id", "type", "chunk_id", "document_id", "start", "quote", "confidence")


class Busy(Exception):
    """Documents that the act touches are being removed, and that takes long."""


def one_at_a_time(act: Callable[P, T]) -> Callable[P, T]:
    """Let `act` run in a transaction of its own while no other such act does; again when a row was busy.

    Raises `Busy` when rows stay busy.
    """

    @wraps(act)
    def alone(*args: P.args, **kwargs: P.kwargs) -> T:
        until = monotonic() + _PATIENCE
        while True:
            try:
                with transaction.atomic():
                    _run("SELECT pg_advisory_xact_lock(%s)", _LOCK)
                    return act(*args, **kwargs)
            except OperationalError as error:
                if not isinstance(error.__cause__, LockNotAvailable):
                    raise
                if monotonic() > until:
                    raise Busy("Documents it touches are being removed at this moment: try again.") from None
            sleep(_PAUSE)

    return alone


def groups(ids: Collection[UUID]) -> dict[UUID, Entity]:
    """Lock the entities of `ids` that there are, with all that are one with them; return them by id."""
    held = Entity.objects.filter(pk__in=ids).order_by().values_list("pk", "canonical_entity")
    canonical = {belongs or pk for pk, belongs in held}
    rows = Entity.objects.filter(Q(pk__in=canonical) | Q(canonical_entity__in=canonical))
    return {row.pk: row for row in rows.select_for_update(no_key=True).order_by("pk")}


def edges(*, of: UUID, beside: UUID) -> list[Edge]:
    """Lock the edges of one entity, and those of the other in the same passages, at once or not at all."""
    ours = Q(source=of) | Q(target=of)
    chunks = Relationship.objects.filter(ours).order_by().values("chunk_id")
    theirs = (Q(source=beside) | Q(target=beside)) & Q(chunk_id__in=chunks)
    rows = Relationship.objects.filter(ours | theirs).select_for_update(nowait=True).order_by("pk")
    return [Edge(*row) for row in rows.values_list(*_EDGE)]


def rows(table: str, ids: Iterable[Any]) -> list[Any]:
    """Lock the rows of `table` with these ids, at once or not at all; return the ids that there are."""
    return [
        pk
        for (pk,) in _run(
            f"SELECT id FROM {table} WHERE id = ANY(%s) ORDER BY id FOR UPDATE NOWAIT",  # noqa: S608 - ours
            list(ids),
        )
    ]


def passages(ids: Iterable[int]) -> dict[int, tuple[UUID, str, str]]:
    """Keep passages and their documents until the commit, at once or not at all: document, body and hash."""
    found = _run(
        """
        SELECT chunk.id, document.id, chunk.body, chunk.content_sha256
        FROM corpus_chunk AS chunk JOIN corpus_document AS document ON document.id = chunk.document_id
        WHERE chunk.id = ANY(%s) ORDER BY chunk.id FOR KEY SHARE NOWAIT
        """,
        list(ids),
    )
    return {chunk: (document, body, sha256) for chunk, document, body, sha256 in found}


def _run(statement: str, *values: Any) -> Sequence[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: Sequence[tuple[Any, ...]] = cursor.fetchall()
    return found
