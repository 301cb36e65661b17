"""A database and a store as they are now, put back in a moment: each point of a sweep begins alike."""

from __future__ import annotations

import shutil
from pathlib import Path

from django.db import connection, connections

_SAVED = "saved_world"


class World:
    """What there is when it is made, to be put back as often as wanted."""

    def __init__(self, media: Path, beside: Path) -> None:
        self._media, self._beside = media, beside
        media.mkdir(parents=True, exist_ok=True)
        shutil.copytree(media, beside)
        with connection.cursor() as cursor:
            cursor.execute(f"DROP SCHEMA IF EXISTS {_SAVED} CASCADE; CREATE SCHEMA {_SAVED}")
            cursor.execute(
                """
                SELECT relation.relname, string_agg(quote_ident(attribute.attname), ', ')
                FROM pg_class AS relation
                JOIN pg_attribute AS attribute ON attribute.attrelid = relation.oid
                WHERE relation.relnamespace = 'public'::regnamespace AND relation.relkind = 'r'
                    AND attribute.attnum > 0 AND NOT attribute.attisdropped AND attribute.attgenerated = ''
                GROUP BY relation.relname ORDER BY relation.relname
                """
            )
            tables = cursor.fetchall()
            back = ["SET LOCAL session_replication_role = replica", "SET LOCAL lock_timeout = '10s'"]
            for table, columns in tables:
                here, there = f'public."{table}"', f'{_SAVED}."{table}"'
                rows = f"SELECT {columns} FROM"
                cursor.execute(f"CREATE TABLE {there} AS {rows} {here}")
                cursor.execute(f"SELECT EXISTS (SELECT FROM {there})")  # noqa: S608
                (is_filled,) = cursor.fetchone()
                back.append(f"DELETE FROM {here}")  # noqa: S608
                if is_filled:
                    back.append(f"INSERT INTO {here} ({columns}) {rows} {there}")
        self._back = ";".join(["BEGIN", *back, "COMMIT"])

    def restore(self) -> None:
        """Put everything back."""
        connections.close_all()
        with connection.cursor() as cursor:
            cursor.execute(self._back)
        shutil.rmtree(self._media)
        shutil.copytree(self._beside, self._media)

    def close(self) -> None:
        """Forget what was kept."""
        connections.close_all()
        with connection.cursor() as cursor:
            cursor.execute(f"DROP SCHEMA IF EXISTS {_SAVED} CASCADE")
