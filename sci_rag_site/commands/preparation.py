"""What has to be in place before the site serves."""

from __future__ import annotations

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from corpus.cli_output import CommandFailed


def unapplied_migrations() -> list[str]:
    """Return the names of the migrations this version has and the database has not."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def migrate() -> int:
    """Bring the site's own database up to date; ask the operator to, where it is not ours.

    Return how many migrations were applied.
    """
    missing = unapplied_migrations()
    if not missing:
        return 0
    if settings.EMBEDDED_POSTGRES is None:
        raise CommandFailed(
            f"The database lacks {len(missing)} migrations of this version, from {missing[0]} on. "
            "Make a backup, then run 'python manage.py migrate'."
        )
    call_command("migrate", verbosity=0, interactive=False)
    return len(missing)
