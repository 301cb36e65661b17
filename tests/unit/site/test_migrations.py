"""Every migration of ours can be taken back, or is named here with why not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import SeparateDatabaseAndState

OURS = ("corpus", "retrieval", "answers", "evaluation")
# Name and reason.
ONE_WAY: dict[str, str] = {}
MIGRATIONS = {
    f"{app}.{name}": migration
    for (app, name), migration in sorted(MigrationLoader(None).disk_migrations.items())
    if app in OURS
}


def operations(migration: Any) -> Iterator[Any]:
    for operation in migration.operations:
        yield operation
        if isinstance(operation, SeparateDatabaseAndState):
            yield from operation.database_operations


@pytest.mark.parametrize("name", MIGRATIONS)
def test_a_migration_can_be_taken_back(name: str) -> None:
    one_way = [each for each in operations(MIGRATIONS[name]) if not each.reversible]

    assert bool(one_way) == (name in ONE_WAY), one_way


def test_one_line_of_migrations_leads_to_each_apps_tables() -> None:
    graph = MigrationLoader(None).graph

    assert [len(graph.leaf_nodes(app)) for app in OURS] == [1, 1, 1, 1]
