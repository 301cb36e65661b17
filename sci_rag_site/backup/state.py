"""What a database holds, as counts and hashes: two that are equal in all of them hold the same.

The SQL of backups is here. Rows are hashed as text in the order of their key; columns that the server
computes from others are left out, since another version of it may compute them otherwise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from psycopg.sql import SQL, Composed, Identifier

from corpus.audit import verifying
from corpus.domain_profile import active_profile
from corpus.fingerprint import State, state
from corpus.scope import RetrievalScope
from sci_rag_site.backup.unfinished import UNFINISHED

_OWN = """
    FROM pg_class AS relation JOIN pg_namespace AS space ON space.oid = relation.relnamespace
    WHERE space.nspname !~ '^pg_' AND space.nspname <> 'information_schema' AND relation.relname <> %s
        AND NOT EXISTS (
            SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = relation.oid
                AND deptype = 'e')
"""
_TABLES = f"""
SELECT space.nspname, relation.relname,
    ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = relation.oid AND attnum > 0
        AND NOT attisdropped AND attgenerated = '' ORDER BY attnum),
    ARRAY(SELECT attname::text FROM pg_index JOIN pg_attribute ON attrelid = indrelid
        AND attnum = ANY(indkey) WHERE indrelid = relation.oid AND indisprimary
        ORDER BY array_position(indkey, attnum))
{_OWN} AND relation.relkind IN ('r', 'p') ORDER BY 1, 2
"""  # noqa: S608 - constants
_SEQUENCES = f"""
SELECT space.nspname, relation.relname {_OWN} AND relation.relkind = 'S' ORDER BY 1, 2
"""
_EXTENSIONS = """
SELECT extname, extversion FROM pg_extension WHERE extname <> 'plpgsql' ORDER BY extname
"""
_OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
# Text looks the same whoever asks for it.
_FORMS = {
    "timezone": "UTC",
    "datestyle": "ISO, YMD",
    "intervalstyle": "postgres",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "xmloption": "content",
}

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Table:
    """One table of ours."""

    schema: str
    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    @property
    def label(self) -> str:
        return self.name if self.schema == "public" else f"{self.schema}.{self.name}"


def tables() -> list[Table]:
    """Return every table that is not an extension's, by name."""
    with connection.cursor() as cursor:
        cursor.execute(_TABLES, [UNFINISHED])
        return [
            Table(schema, name, tuple(columns), tuple(key))
            for schema, name, columns, key in cursor.fetchall()
        ]


def rows(progress: Progress) -> dict[str, dict[str, Any]]:
    """Return the count and hash of every table's rows, as the open transaction sees them."""
    with connection.cursor() as cursor:
        for name, value in _FORMS.items():
            cursor.execute("SELECT set_config(%s, %s, true)", [name, value])
    return {table.label: _hashed(table, progress) for table in tables()}


def _hashed(table: Table, progress: Progress) -> dict[str, Any]:
    digest, count = hashlib.sha256(), 0
    with connection.cursor() as cursor, cursor.cursor.copy(_copying(table)) as copy:
        for piece in copy:
            digest.update(piece)
            # A line is a row: line breaks within are written otherwise.
            count += bytes(piece).count(b"\n")
            progress(len(piece))
    return {"rows": count, "sha256": digest.hexdigest()}


def _copying(table: Table) -> Composed:
    where = Identifier(table.schema, table.name)
    if table.key:
        order: Any = SQL(", ").join(map(Identifier, table.key))
    else:
        order = SQL('record::text COLLATE "C"')
    return SQL("COPY (SELECT {columns} FROM {where} AS record ORDER BY {order}) TO STDOUT").format(
        columns=SQL(", ").join(map(Identifier, table.columns)), where=where, order=order
    )


def sequences() -> dict[str, int]:
    """Return the last number that each sequence gave, 0 for one that gave none."""
    with connection.cursor() as cursor:
        cursor.execute(_SEQUENCES, [UNFINISHED])
        names = cursor.fetchall()
        found = {}
        for schema, name in names:
            given = SQL("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {}")
            cursor.execute(given.format(Identifier(schema, name)))
            found[name if schema == "public" else f"{schema}.{name}"] = int(cursor.fetchone()[0])
    return found


def extensions() -> dict[str, str]:
    """Return the extensions of the database with their versions."""
    with connection.cursor() as cursor:
        cursor.execute(_EXTENSIONS)
        return dict(cursor.fetchall())


def server_version() -> int:
    """Return the server's version as a number, 180006 for 18.6."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int")
        return int(cursor.fetchone()[0])


def database_size() -> int:
    """Return how much room the database takes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


def other_sessions() -> int:
    """Return how many other sessions use the database."""
    with connection.cursor() as cursor:
        cursor.execute(_OTHERS)
        return int(cursor.fetchone()[0])


def exported_snapshot() -> str:
    """Return the name by which another session sees the database as the open transaction does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_export_snapshot()")
        return str(cursor.fetchone()[0])


def migrations() -> list[str]:
    """Return the migrations that the database has had."""
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted(f"{app}.{name}" for app, name in applied)


def corpus_state() -> State:
    """Return fingerprint and counts of the whole corpus."""
    return state(RetrievalScope())


def profile() -> str:
    """Return the hash of the domain profile, which enters the fingerprint."""
    return active_profile().digest()


def audit_head() -> str:
    """Return where the audit chain ends."""
    number, sha256 = verifying.head()
    return f"{number}:{sha256}"


def originals() -> list[str]:
    """Return the hash of every original that a row speaks of."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT file_sha256 FROM corpus_document WHERE file_sha256 <> '' UNION "
            "SELECT file_sha256 FROM corpus_ingestionitem WHERE file_sha256 <> '' ORDER BY 1"
        )
        return [row[0] for row in cursor.fetchall()]


def documents_with_originals() -> set[str]:
    """Return the hashes of the originals that documents need; of failed files they may be gone."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT file_sha256 FROM corpus_document WHERE file_sha256 <> ''")
        return {row[0] for row in cursor.fetchall()}
