"""Reading from a replica: which server the layers of a request are put to.

The primary says what is eligible and where its log of changes stands at that moment; the replica is read
from when it has replayed that much. Whatever was committed before the request began, a right taken away for
one, counts for its search then, however far behind the replica usually is. What the layers name is loaded
from the primary under the scope again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import structlog
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connections
from psycopg.errors import QueryCanceled
from psycopg_pool import PoolTimeout

from corpus.metrics import catalogue
from retrieval.following import Follower, Place

PRIMARY, REPLICA = DEFAULT_DB_ALIAS, "replica"
# How far behind a replica may be, in time, for a request to wait for it.
WAIT = 0.1
# How long it is left alone after it was further behind, or failed.
REST = 2.0

# Whoever is told that a change is committed can rely on it: it is flushed by then, unless commits do not wait
# for that.
_PLACE = """
SELECT (SELECT system_identifier FROM pg_control_system()),
    CASE WHEN current_setting('synchronous_commit') = 'off' THEN pg_current_wal_insert_lsn()
         ELSE pg_current_wal_flush_lsn() END - '0/0'::pg_lsn
"""
# A server that was promoted goes its own way.
_REPLAYED = """
SELECT (SELECT system_identifier FROM pg_control_system()), pg_last_wal_replay_lsn() - '0/0'::pg_lsn
WHERE pg_is_in_recovery()
"""

logger = structlog.get_logger(__name__)
Found = TypeVar("Found")


def place() -> Place | None:
    """Return where the primary is now; None when the site has no replica."""
    if REPLICA not in settings.DATABASES:
        return None
    return _asked(PRIMARY, _PLACE)


def server_for(wanted: Place | None) -> str:
    """Return the database that holds everything up to `wanted`: the replica where it does, else the primary.

    It may wait a moment: call it without holding a connection.
    """
    server = REPLICA if wanted is not None and _follower.has_reached(wanted) else PRIMARY
    catalogue.READS.count(server="replica" if server == REPLICA else "primary")
    return server


def read(server: str, reading: Callable[[str], Found]) -> Found:
    """Return what `reading` finds on `server`; on the primary when the replica is lost on the way."""
    if server != REPLICA:
        return reading(server)
    try:
        return reading(server)
    except (OperationalError, InterfaceError, PoolTimeout) as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise
        logger.warning("replica.lost", error=type(error).__name__)
        catalogue.REPLICA_LOST.count()
        _follower.failed()
        return reading(PRIMARY)


def _asked(server: str, statement: str) -> Place | None:
    with connections[server].cursor() as cursor:
        cursor.execute(statement)
        row = cursor.fetchone()
    return None if row is None or row[1] is None else Place(int(row[0]), int(row[1]))


def _replayed() -> Place | None:
    return _asked(REPLICA, _REPLAYED)


def _leave() -> None:
    connections[REPLICA].close()


_follower = Follower(_replayed, wait=WAIT, rest=REST, leave=_leave)
