"""Which document holds a file or a text already. Asked of every file: no query is built for it."""

from __future__ import annotations

from uuid import UUID

from django.db import connection

from corpus.models import Document


def by_file(file_sha256: str) -> Document | None:
    """Return the first document that was taken in from exactly this file."""
    return _found("file_sha256 = %s ORDER BY ingested_at, id LIMIT 1", file_sha256)


def by_text(content_sha256: str) -> Document | None:
    """Return the document that has exactly this text."""
    return _found("content_sha256 = %s", content_sha256)


def _found(condition: str, value: str) -> Document | None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id FROM corpus_document WHERE {condition}", [value])  # noqa: S608 - constants
        row: tuple[UUID] | None = cursor.fetchone()
    return None if row is None else Document.objects.filter(pk=row[0]).first()
