"""What remembers, in the database itself, that a restore began and has not ended.

Until it ends nothing else may set that database up: half a corpus must not pass for a whole one.
"""

from __future__ import annotations

from typing import Final

from django.db import connection

UNFINISHED: Final = "sci_rag_restore_unfinished"


def begin(path: str) -> None:
    """Remember that the backup at `path` is being restored."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TABLE IF NOT EXISTS public.{UNFINISHED} (path text, begun timestamptz DEFAULT now())"
        )
        cursor.execute(f"INSERT INTO public.{UNFINISHED} (path) VALUES (%s)", [path])  # noqa: S608


def end() -> None:
    """Forget it: the database is whole."""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS public.{UNFINISHED}")


def told() -> str:
    """Return what to tell whoever uses the database meanwhile, nothing when no restore is unfinished."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s)", [f"public.{UNFINISHED}"])
        if cursor.fetchone() == (None,):
            return ""
        cursor.execute(f"SELECT path, begun FROM public.{UNFINISHED} ORDER BY begun DESC LIMIT 1")  # noqa: S608
        row = cursor.fetchone()
    if row is None:
        return ""
    return (
        f"A restore of {row[0]} began at {row[1]:%Y-%m-%d %H:%M} and did not end, so the database is not "
        f"whole. Go on with: sci-rag restore {row[0]} --replace"
    )
