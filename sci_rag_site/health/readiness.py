"""Whether the site can work, in a few numbers for a proxy or a monitor: no secrets, no words, two queries."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader

from corpus import jobs
from sci_rag_site.database.errors import EmbeddedPostgresError

logger = structlog.get_logger(__name__)

# A queue may be long. One that waits so long while nobody holds a job has no worker.
STALLED_SECONDS = 600
LEAST_FREE = 0.05
_IN_THE_DATABASE = ("migrations", "queue")


def readiness() -> tuple[list[str], dict[str, Any]]:
    """Return the names of what is not as it has to be, and what was seen of each."""
    failing: list[str] = []
    seen: dict[str, Any] = {}
    for name, look in _LOOKS.items():
        if "database" in failing and name in _IN_THE_DATABASE:
            # It would only wait for the same server again.
            seen[name] = "unknown"
            continue
        try:
            is_well, seen[name] = look()
        except (DatabaseError, EmbeddedPostgresError) as error:
            # The type alone: a server's messages name hosts and roles.
            logger.error("readiness.failed", name=name, kind=type(error).__name__)  # noqa: TRY400
            is_well, seen[name] = False, "unreachable"
        if not is_well:
            failing.append(name)
    return failing, seen


def _database() -> tuple[bool, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return True, "ok"


def _migrations() -> tuple[bool, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT app, name FROM django_migrations")
        applied = set(cursor.fetchall())
    missing = _newest() - applied
    return not missing, "missing" if missing else "ok"


@cache
def _newest() -> frozenset[tuple[str, str]]:
    """Return the last migration of each app of this version. Read once, as the code is."""
    return frozenset(MigrationLoader(None).graph.leaf_nodes())


def _queue() -> tuple[bool, dict[str, Any]]:
    backlog = jobs.backlog()
    is_stalled = backlog.oldest_seconds > STALLED_SECONDS and not backlog.running
    said = {
        "queued": backlog.queued,
        "leased": backlog.running,
        "oldest_seconds": round(backlog.oldest_seconds),
    }
    return not is_stalled, said


def _disk() -> tuple[bool, dict[str, Any]]:
    place = Path(settings.VAR_DIR)
    usage = shutil.disk_usage(place if place.exists() else place.anchor)
    share = usage.free / usage.total
    return share >= LEAST_FREE, {"free": round(share, 3)}


_LOOKS: dict[str, Callable[[], tuple[bool, Any]]] = {
    "database": _database,
    "migrations": _migrations,
    "queue": _queue,
    "disk": _disk,
}
