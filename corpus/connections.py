"""Handing the database connection back before something slow."""

from __future__ import annotations

from django.db import connection


def release() -> None:
    """Return this thread's connection to the pool; the next query takes one again.

    Called before a parser or a model runs: a connection that waits for them is missing elsewhere. Inside
    a transaction the connection stays, since giving it back would end the transaction.
    """
    if not connection.in_atomic_block:
        connection.close()
