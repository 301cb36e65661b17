"""What tables hold, as one hash for each: whether anything in them changed."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection
from psycopg.sql import SQL, Composed, Identifier, Literal

_HASH = "(SELECT {name}, coalesce(md5(string_agg(r::text, ';' ORDER BY r::text)), '') FROM {table} r)"


def contents(tables: Iterable[str]) -> dict[str, str]:
    """Return a hash of the rows of each table, in whatever order they lie."""
    with connection.cursor() as cursor:
        cursor.execute(of_each(_HASH, tables, " UNION ALL "))
        return dict(cursor.fetchall())


def contents_but(tables: Iterable[str]) -> dict[str, str]:
    """Return a hash of the rows of every table but these."""
    return contents(sorted(set(connection.introspection.table_names()) - set(tables)))


def of_each(statement: str, tables: Iterable[str], between: str) -> Composed:
    """Put a statement together for each table."""
    return SQL(between).join(
        SQL(statement).format(name=Literal(table), table=Identifier(table)) for table in tables
    )
