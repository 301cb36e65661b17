"""Whether the append-only tables hold what was sealed, link by link and row by row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, LiteralString

from django.db import connection
from psycopg.sql import SQL, Composable, Identifier, Literal

from corpus.snapshots import one_moment

MOST_NAMED = 20

# The arguments of a trigger end with a zero byte each: the key, and the columns that can be erased.
_SEALED = """
SELECT relation.relname, convert_from(
    substring(trigger.tgargs FROM 1 FOR position('\\000'::bytea IN trigger.tgargs) - 1), 'UTF8'),
    convert_from(trim('\\000'::bytea FROM substring(
        trigger.tgargs FROM position('\\000'::bytea IN trigger.tgargs))), 'UTF8')
FROM pg_trigger AS trigger JOIN pg_class AS relation ON relation.oid = trigger.tgrelid
WHERE trigger.tgname = 'audit_sealed' AND trigger.tgenabled IN ('O', 'A')
ORDER BY relation.relname
"""
_BROKEN = """
SELECT number FROM (
    SELECT link.*, lag(sha256, 1, '') OVER (ORDER BY number) AS before,
        lag(number, 1, 0::bigint) OVER (ORDER BY number) AS number_before
    FROM corpus_auditlink AS link
) AS link
WHERE previous <> before OR number <> number_before + 1 OR sha256 <> corpus_audit_link_sha256(
    previous, number, table_name, row_id, columns::text[], row_sha256, by)
ORDER BY number LIMIT %s
"""
_OF_ROWS: dict[str, LiteralString] = {
    "row_changed": """
        SELECT link.row_id FROM corpus_auditlink AS link
        JOIN {table} AS record ON record.{key}::text = link.row_id
        WHERE link.table_name = {name} AND (
            link.row_sha256 <> corpus_audit_row_sha256(to_jsonb(record), link.columns::text[])
            OR link.by NOT IN ('', corpus_audit_by(to_jsonb(record))))
        ORDER BY link.number LIMIT %s
    """,
    "row_gone": """
        SELECT link.row_id FROM corpus_auditlink AS link
        WHERE link.table_name = {name} AND NOT EXISTS (
            SELECT FROM {table} AS record WHERE record.{key}::text = link.row_id)
        ORDER BY link.number LIMIT %s
    """,
    "row_not_sealed": """
        SELECT record.{key}::text FROM {table} AS record
        WHERE NOT EXISTS (
            SELECT FROM corpus_auditlink AS link
            WHERE link.table_name = {name} AND link.row_id = record.{key}::text)
        ORDER BY record.{key} LIMIT %s
    """,
}
# Gone with their document is no tamper: all of them, and it.
_OF_WORDS: LiteralString = """
    SELECT link.row_id FROM corpus_auditlink AS link
    JOIN {table} AS record ON record.{key}::text = link.row_id
    WHERE link.table_name = {name} || '.words'
        AND link.row_sha256 <> corpus_audit_row_sha256(to_jsonb(record), link.columns::text[])
        AND (EXISTS (SELECT FROM corpus_document WHERE id = record.document_id)
            OR EXISTS (SELECT FROM jsonb_each_text(to_jsonb(record)) AS word
                WHERE word.key = ANY(link.columns) AND word.value <> ''))
    ORDER BY link.number LIMIT %s
"""
_OF_CONTEXTS = """
    SELECT context FROM (
        SELECT DISTINCT ON (split_part(row_id, ':', 1))
            split_part(row_id, ':', 1)::uuid AS context, row_sha256
        FROM corpus_auditlink WHERE table_name = 'pghistory_context'
        ORDER BY split_part(row_id, ':', 1), number DESC
    ) AS newest
    WHERE row_sha256 <> corpus_audit_context_sha256(context)
    ORDER BY context LIMIT %s
"""
_HEAD = "SELECT number, sha256 FROM corpus_audithead"
_LAST = "SELECT number, sha256 FROM corpus_auditlink ORDER BY number DESC LIMIT 1"


@dataclass(frozen=True, slots=True)
class Tamper:
    """Something that is not as it was sealed. `what` is a stable code."""

    what: str
    table: str
    row: str


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found, and where the chain ends: to be kept elsewhere and asked for again."""

    links: int
    head: str
    tables: tuple[str, ...]
    tampers: tuple[Tamper, ...] = field(default=())


def head() -> tuple[int, str]:
    """Return number and hash of the last link."""
    with connection.cursor() as cursor:
        cursor.execute(_HEAD)
        row = cursor.fetchone()
    return (0, "") if row is None else (int(row[0]), str(row[1]))


def verify(*, known: tuple[int, str] | None = None) -> Verified:
    """Compare every link with the one before it and every row with its link, as of one moment.

    `known` is a head that was kept elsewhere: it has to be in the chain still.
    """
    # A record and its link are committed together: of one moment both are there or neither is.
    with one_moment(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL timezone TO 'UTC'")
        cursor.execute(_HEAD)
        ends_at = cursor.fetchone() or (0, "")
        cursor.execute(_SEALED)
        tables: list[tuple[str, str, str]] = cursor.fetchall()
        found = [Tamper("link_changed", "corpus_auditlink", str(row)) for row in _column(cursor, _BROKEN)]
        found += _of_the_end(cursor, ends_at, known)
        found += [
            Tamper("words_changed", "pghistory_context", str(row)) for row in _column(cursor, _OF_CONTEXTS)
        ]
        for table, key, erasable in tables:
            found += _of_table(cursor, table, key, has_words=bool(erasable))
    return Verified(int(ends_at[0]), str(ends_at[1]), tuple(table for table, *_ in tables), tuple(found))


def _column(cursor: Any, statement: str | Composable) -> list[Any]:
    cursor.execute(statement, [MOST_NAMED])
    return [row[0] for row in cursor.fetchall()]


def _of_the_end(cursor: Any, ends_at: tuple[int, str], known: tuple[int, str] | None) -> list[Tamper]:
    cursor.execute(_LAST)
    found = []
    if (cursor.fetchone() or (0, "")) != tuple(ends_at):
        found.append(Tamper("end_changed", "corpus_audithead", str(ends_at[0])))
    if known is not None:
        cursor.execute("SELECT 1 FROM corpus_auditlink WHERE number = %s AND sha256 = %s", known)
        if cursor.fetchone() is None:
            found.append(Tamper("known_head_gone", "corpus_auditlink", str(known[0])))
    return found


def _of_table(cursor: Any, table: str, key: str, *, has_words: bool) -> list[Tamper]:
    # Names of the database's own catalogue.
    names = {"table": Identifier(table), "key": Identifier(key), "name": Literal(table)}
    return [
        Tamper(what, table, str(row))
        for what, statement in (_OF_ROWS | ({"words_changed": _OF_WORDS} if has_words else {})).items()
        for row in _column(cursor, SQL(statement).format(**names))
    ]
