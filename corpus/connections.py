"""Handing the database connection back before something slow."""

from __future__ import annotations

from django.db import connections


class ConnectionHeld(RuntimeError):
    """An outside call was about to be made inside a transaction: a programming error."""


def release() -> None:
    """Return this thread's connections to the pool; the next query takes one again.

    Called before a parser or a model runs: a connection that waits for them is missing elsewhere. Inside
    a transaction the connection stays, since giving it back would end the transaction.
    """
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


def release_before_outside_call() -> None:
    """Return this thread's connections; raise `ConnectionHeld` inside a transaction.

    For calls that leave the machine and may take minutes: two hundred readers who each hold one of
    sixteen connections while a model writes turn into errors.
    """
    if any(connection.in_atomic_block for connection in connections.all(initialized_only=True)):
        raise ConnectionHeld("No call to a provider may be made inside a transaction.")
    release()
