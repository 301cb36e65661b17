"""Counts the statements that a piece of work sends to the database, whichever threads send them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connections
from django.db.backends.signals import connection_created


@contextmanager
def counted() -> Iterator[list[str]]:
    """Yield the statements of this and every other thread, as they are sent."""
    sent: list[str] = []
    watched: list[Any] = []

    def note(execute: Any, sql: str, params: Any, many: Any, context: Any) -> Any:
        sent.append(sql)
        return execute(sql, params, many, context)

    def watch(connection: Any, **_: Any) -> None:
        if note not in connection.execute_wrappers:
            connection.execute_wrappers.append(note)
            watched.append(connection)

    # Sent whenever a thread takes a connection out of the pool.
    connection_created.connect(watch)
    for connection in connections.all(initialized_only=True):
        if connection.connection is not None:
            watch(connection)
    try:
        yield sent
    finally:
        connection_created.disconnect(watch)
        for connection in watched:
            connection.execute_wrappers.remove(note)
