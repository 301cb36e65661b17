"""What has to be in place before the site serves or a command works."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.backends.signals import connection_created
from django.db.migrations.executor import MigrationExecutor

from corpus.cli_output import CommandFailed
from sci_rag_site.backup import unfinished
from sci_rag_site.database import locks


def unapplied_migrations() -> list[str]:
    """Return the names of the migrations this version has and the database has not."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def refuse_half_a_database() -> None:
    """Raise while a restore has begun and not ended: what is there must not pass for the corpus."""
    if told := unfinished.told():
        raise CommandFailed(told)


def migrate() -> int:
    """Bring the site's own database up to date; ask the operator to, where it is not ours.

    Return how many migrations were applied. Of several processes at once, one applies them.
    """
    refuse_half_a_database()
    missing = unapplied_migrations()
    if not missing:
        return 0
    if settings.EMBEDDED_POSTGRES is None:
        raise CommandFailed(
            f"The database lacks {len(missing)} migrations of this version, from {missing[0]} on. "
            "Make a backup, then run 'python manage.py migrate'."
        )
    with locks.exclusively(settings.EMBEDDED_POSTGRES.home / "migrate.lock"):
        missing = unapplied_migrations()
        if missing:
            call_command("migrate", verbosity=0, interactive=False)
    return len(missing)


@contextmanager
def migrated_when_reached() -> Iterator[None]:
    """Within the block, the first connection to the site's own database brings it up to date.

    What never connects starts no server, and an operator's own database is left as it is. Either is refused
    while a restore of it has not ended.
    """
    is_ours = settings.EMBEDDED_POSTGRES is not None
    # Reentrant: migrating may itself connect. Other threads wait until the tables are there.
    gate = threading.RLock()
    checked = False

    def check(**_signal: Any) -> None:
        nonlocal checked
        with gate:
            if checked:
                return
            checked = True
            refuse_half_a_database()
            if is_ours and not _knows_every_file() and (applied := migrate()):
                click.echo(f"Brought the database up to date: {applied} migrations.", err=True)

    connection_created.connect(check, weak=False)
    try:
        yield
    finally:
        connection_created.disconnect(check)


def _knows_every_file() -> bool:
    """Compare names only, in one query: loading the migrations costs more than most commands."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('django_migrations')")
        if cursor.fetchone() == (None,):
            return False
        cursor.execute("SELECT app, name FROM django_migrations")
        applied = set(cursor.fetchall())
    return all(
        (app.label, file.stem) in applied
        for app in apps.get_app_configs()
        for file in Path(app.path).glob("migrations/[!_]*.py")
    )
