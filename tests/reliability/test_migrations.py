"""Migrations on a database that is full and in use: down and up loses nothing, and nobody waits long."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.migrations.loader import MigrationLoader

from tests.integration.site.conftest import ROOT

PASSAGES = 10_000
# Longer than any reader may have to wait for a lock.
MOST_SECONDS = 2.0


def run(place: Path, *words: str) -> str:
    result = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT, check=False, capture_output=True, text=True, timeout=3000,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "sci_rag_site.settings", "SCI_RAG_VAR_DIR": str(place)},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout


@pytest.mark.long
def test_every_migration_goes_down_and_up_on_a_full_database_and_keeps_what_was_there(var: Path) -> None:
    run(var, "sci_rag_site", "demo", "--no-serve")

    told = json.loads(run(var, "tests.reliability.migrating", str(PASSAGES)))

    seen: list[dict[str, Any]] = told["seen"]
    assert len(seen) > 60
    assert [one["migration"] for one in seen if one.get("one_way")] == []
    assert {one["migration"]: one["changed"] for one in seen if one["changed"]} == {}
    assert told["all_up"]["changed"] == []
    assert told["missing"] == []
    assert max([told["all_up"]["waited"], *(one["waited"] for one in seen)]) < MOST_SECONDS


@pytest.mark.django_db(transaction=True)
def test_a_migration_that_would_make_everybody_wait_gives_up_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpus.migration_locks.PATIENCE", "100ms")
    graph = MigrationLoader(connection).graph
    ((_, last),) = graph.leaf_nodes("evaluation")
    before = next(p.key[1] for p in graph.node_map["evaluation", last].parents if p.key[0] == "evaluation")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relname LIKE 'evaluation\\_%' AND relkind = 'r' ORDER BY 1"
        )
        tables = ", ".join(name for (name,) in cursor.fetchall())
    held, ended = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute(f"BEGIN; LOCK TABLE {tables} IN ACCESS SHARE MODE")
                held.set()
                ended.wait(30)
                cursor.execute("ROLLBACK")
        finally:
            connection.close()

    reader = threading.Thread(target=hold)
    reader.start()
    assert held.wait(10)
    try:
        with pytest.raises(OperationalError, match="lock timeout"):
            call_command("migrate", "evaluation", before, verbosity=0)
        assert ("evaluation", last) in MigrationLoader(connection).applied_migrations
    finally:
        ended.set()
        reader.join()
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")
