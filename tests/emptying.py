"""Empty the database between tests that commit.

Django's flush truncates every table and makes the permissions anew: a quarter of a second on a quiet
machine, for two thousand tests. Deleting the few rows that a test leaves, and putting back those that the
migrations made, takes a tenth of that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from django.core.management import call_command
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.test import TransactionTestCase
from psycopg.sql import SQL, Identifier, Literal

from tests.contents import contents, of_each

# Rows deleted from a table after which its pages are given back: plans should see it as small as it is.
_VACUUM_AFTER = 300


class Emptying:
    """Stands in for the teardown of Django's `TransactionTestCase`."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}
        self._rows: dict[str, str] = {}
        self._tables: list[str] = []
        self._dead: Counter[str] = Counter()

    def install(self) -> None:
        """Let every test that commits end with this."""
        TransactionTestCase._fixture_teardown = lambda case: self._empty()

    def _empty(self) -> None:
        if not self._tables:
            self._flush()
            return
        self._delete_rows()
        now = contents(self._kept)
        self._put_back([name for name, digest in self._kept.items() if now[name] != digest])

    def _flush(self) -> None:
        """Flush as Django does, and learn which tables that leaves filled."""
        call_command("flush", verbosity=0, interactive=False, reset_sequences=False)
        # Some tables have no model, and no trigger fills or empties them here.
        names = set(connection.introspection.table_names())
        with connection.cursor() as cursor:
            cursor.execute(of_each("(SELECT {name} FROM {table} LIMIT 1)", names, " UNION ALL "))
            filled = {name for (name,) in cursor.fetchall()}
            cursor.execute(
                of_each("(SELECT {name}, json_agg(r)::text FROM {table} r)", filled, " UNION ALL ")
            )
            self._rows = dict(cursor.fetchall())
        self._kept = contents(filled)
        self._tables = sorted(names - filled - {"django_migrations"})
        self._dead.clear()

    def _put_back(self, tables: Iterable[str]) -> None:
        """Give a table whose rows a test changed those that the migrations gave it."""
        copy = SQL("INSERT INTO {table} SELECT * FROM json_populate_recordset(NULL::{table}, {rows})")
        with connection.cursor() as cursor, _as_a_replica(cursor):
            for name in tables:
                table = Identifier(name)
                cursor.execute(SQL("DELETE FROM {}").format(table))
                cursor.execute(copy.format(table=table, rows=Literal(self._rows[name])))

    def _delete_rows(self) -> None:
        with connection.cursor() as cursor:
            with _as_a_replica(cursor):
                cursor.execute(of_each("DELETE FROM {table}", self._tables, "; "))
                for name in self._tables:
                    self._dead[name] += cursor.rowcount
                    cursor.nextset()
            full = [name for name, rows in self._dead.items() if rows > _VACUUM_AFTER]
            for name in full:
                cursor.execute(SQL("VACUUM {}").format(Identifier(name)))
                del self._dead[name]


@contextmanager
def _as_a_replica(cursor: CursorWrapper) -> Iterator[None]:
    """Neither what guards the records nor the order of foreign keys is in the way of a replica."""
    cursor.execute("SET session_replication_role = replica")
    try:
        yield
    finally:
        cursor.execute("SET session_replication_role = origin")
