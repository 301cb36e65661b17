"""Nothing outside is waited for with a database connection in hand.

A model takes seconds and a pool has sixteen connections: with one held through every call, two hundred
readers turn into errors.
"""

from __future__ import annotations

from django.db import connections


class ConnectionHeld(RuntimeError):
    """An outside call was about to be made inside a transaction: a programming error."""


def release_connections() -> None:
    """Give this thread's database connections back before an outside call.

    Raises `ConnectionHeld` inside `atomic`, where giving back would break the transaction.
    """
    for connection in connections.all(initialized_only=True):
        if connection.in_atomic_block:
            raise ConnectionHeld("No model, parser or web call may run inside a transaction.")
        connection.close()
