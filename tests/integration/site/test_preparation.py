"""A command finds the tables it needs, on a database that nobody has set up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from sci_rag_site.commands import preparation
from tests.integration.site.conftest import ROOT


def start(var: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "sci_rag_site.settings",
        "SCI_RAG_VAR_DIR": str(var),
    }
    return subprocess.Popen(
        [sys.executable, "-m", "sci_rag_site", *arguments],
        cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_commands_at_once_on_a_new_database_all_work_and_one_sets_it_up(var: Path) -> None:
    running = [start(var, "corpus", "stats") for _ in range(3)]

    ended = [process.communicate(timeout=200) for process in running]

    assert [process.returncode for process in running] == [0, 0, 0]
    assert all("documents: 0" in output for output, _ in ended)
    assert sum("Brought the database up to date" in errors for _, errors in ended) == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["ask", "--help"], 0),
        (["ask"], 2),
        (["ask", "why", "--limit", "0"], 2),
        # Nothing is allowed: there is nothing to look up.
        (["retrieve", "why", "--license", "", "--json"], 0),
    ],
)
def test_a_command_that_reaches_no_database_starts_none(var: Path, arguments: list[str], code: int) -> None:
    process = start(var, *arguments)
    process.communicate(timeout=100)

    assert process.returncode == code
    assert not (var / "postgres" / "data").exists()


@pytest.mark.django_db(transaction=True)
def test_a_database_up_to_date_is_told_by_three_small_queries(
    django_assert_num_queries: DjangoAssertNumQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "migrate", lambda: pytest.fail("no need"))

    with django_assert_num_queries(3), preparation.migrated_when_reached():
        for _ in range(2):
            connection.close()
            connection.ensure_connection()


@pytest.mark.django_db(transaction=True)
def test_a_database_of_the_operators_is_left_alone(
    django_assert_num_queries: DjangoAssertNumQueries,
    settings: Any,
) -> None:
    embedded = settings.EMBEDDED_POSTGRES

    # But for a look whether a restore of it has ended.
    with django_assert_num_queries(1):
        settings.EMBEDDED_POSTGRES = None
        with preparation.migrated_when_reached():
            settings.EMBEDDED_POSTGRES = embedded
            connection.close()
            connection.ensure_connection()
