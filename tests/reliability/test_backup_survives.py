"""Backups while people work, restores that are killed, and servers of one's own: nothing is lost half-way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from sci_rag_site.backup.restoring import ROLE
from sci_rag_site.embedded_postgres import EmbeddedPostgres
from tests.integration.site.conftest import ROOT

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("backup")]


def started(place: Path, *words: str, **settings: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "sci_rag_site", *words],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={
            **os.environ, "DJANGO_SETTINGS_MODULE": "sci_rag_site.settings", "SCI_RAG_VAR_DIR": str(place),
            "DATABASE_URL": "", **settings,
        },
        start_new_session=True,
    )  # fmt: skip


def run(place: Path, *words: str, code: int = 0, **settings: str) -> str:
    process = started(place, *words, **settings)
    output, errors = process.communicate(timeout=600)
    assert process.returncode == code, errors[-2000:]
    return output if code == 0 else errors


def told(place: Path, *words: str, **settings: str) -> Any:
    return json.loads(run(place, *words, "--json", **settings))


@pytest.fixture(scope="module")
def site() -> Iterator[Path]:
    """A site with the demo corpus, answers and labels."""
    folder = Path(tempfile.mkdtemp(prefix="sci-rag-test-"))
    folder.chmod(0o755)
    run(folder / "var", "demo", "--no-serve")
    yield folder / "var"
    assert EmbeddedPostgres(folder / "var" / "postgres").stop_if_unused()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def backup(site: Path) -> Path:
    run(site, "backup", str(site.parent / "kept.backup"))
    return site.parent / "kept.backup"


def known(place: Path, **settings: str) -> dict[str, Any]:
    """What a site answers. Where its chain ends is compared by the restore: a backup is on record itself."""
    found = told(place, "retrieve", "How much dry matter does stover lose?", **settings)
    return {
        "fingerprint": run(place, "corpus", "fingerprint", **settings),
        "found": [item["id"] for item in found["items"]],
        "tampers": told(place, "audit", "verify", **settings)["tampers"],
        "questions": run(place, "eval", "questions", **settings),
        "verified": run(place, "corpus", "verify", **settings),
    }


def test_everything_is_dropped_and_had_back(site: Path, backup: Path, var: Path) -> None:
    before = known(site)

    restored = told(var, "restore", str(backup))

    assert restored["fingerprint_compared"]
    assert restored["questions"] >= 20
    assert known(var) == before
    with psycopg.connect(
        **EmbeddedPostgres(var / "postgres").ensure_running().parameters(), dbname="sci_rag"
    ) as s:
        roles = s.execute("SELECT count(*) FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone()
        owners = s.execute("SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'").fetchall()
    assert (roles, owners) == ((0,), [("sci_rag",)])


def test_a_backup_while_documents_come_in_is_of_one_moment(site: Path, var: Path) -> None:
    documents = var / "documents"
    documents.mkdir()
    for number in range(30):
        words = " ".join(f"word{number}x{place}" for place in range(60))
        (documents / f"{number}.txt").write_text(f"Paper {number}\n\nIt says {words}.\n")
    busy = started(site, "ingest", str(documents), "--bucket", "busy")

    backups = []
    while busy.poll() is None and len(backups) < 6:
        backups.append(var / f"{len(backups)}.backup")
        run(site, "backup", str(backups[-1]))
    busy.communicate(timeout=300)

    counts = [told(site, "backup", "verify", str(path))["documents"] for path in backups]
    assert counts == sorted(counts)
    chosen = backups[len(backups) // 2]
    assert told(site, "backup", "drill", str(chosen))["documents"] == counts[len(backups) // 2]


@pytest.mark.parametrize("seconds", [0.5, 1.5, 2.5, 3.5, 4.5, 6.0])
def test_a_backup_that_is_killed_leaves_no_file_and_the_next_one_works(
    site: Path,
    var: Path,
    seconds: float,
) -> None:
    process = started(site, "backup", str(var / "b"))
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()

    if (var / "b").exists():
        told(site, "backup", "verify", str(var / "b"))
    run(site, "backup", str(var / "c"))
    assert told(site, "backup", "verify", str(var / "c"))["documents"] >= 20


@pytest.mark.parametrize("seconds", [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0])
def test_a_restore_that_is_killed_says_so_and_goes_on(
    site: Path,
    backup: Path,
    var: Path,
    seconds: float,
) -> None:
    process = started(var, "restore", str(backup))
    time.sleep(seconds)
    is_over = process.poll() is not None
    if not is_over:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()

    if not is_over:
        looked = started(var, "corpus", "stats")
        _, errors = looked.communicate(timeout=200)
        # Before anything was touched, or after it was done, there is nothing to say.
        if looked.returncode:
            assert f"sci-rag restore {backup} --replace" in errors
            assert run(var, "backup", str(var / "b"), code=1)
    run(var, "restore", str(backup), "--replace")
    assert (
        run(var, "corpus", "fingerprint") == told(site, "backup", "verify", str(backup))["fingerprint"] + "\n"
    )


@pytest.fixture
def own_server(var: Path) -> Iterator[dict[str, dict[str, str]]]:
    """A server as somebody else runs it: an ordinary account, the extensions made by its administrator."""
    server = EmbeddedPostgres(var / "own")
    connection = server.ensure_running()
    with psycopg.connect(**connection.parameters(), dbname="postgres", autocommit=True) as session:
        session.execute("CREATE ROLE lab LOGIN PASSWORD 'secret-of-lab'")
        for name in ("first", "second"):
            session.execute(sql.SQL("CREATE DATABASE {} OWNER lab").format(sql.Identifier(name)))
    for name in ("first", "second"):
        with psycopg.connect(**connection.parameters(), dbname=name, autocommit=True) as session:
            for extension in ("vector", "pg_trgm", "unaccent"):
                session.execute(sql.SQL("CREATE EXTENSION {}").format(sql.Identifier(extension)))
    yield {
        name: {
            "DATABASE_URL": f"postgres://lab:secret-of-lab@/{name}",
            # A socket has no place in an address: libpq knows it by this.
            "PGHOST": str(connection.socket_directory),
            "SECRET_KEY": "k" * 60,
        }
        for name in ("first", "second")
    }
    server.release()


def test_a_server_of_ones_own_is_restored_by_an_ordinary_account(
    backup: Path,
    var: Path,
    own_server: dict[str, dict[str, str]],
) -> None:
    first, second = own_server["first"], own_server["second"]
    (var / "site").mkdir()

    run(var / "site", "restore", str(backup), **first)
    run(var / "site", "backup", str(var / "own.backup"), **first)
    again = told(var / "site", "restore", str(var / "own.backup"), **second)
    refused = run(var / "site", "restore", str(backup), code=1, **first)
    replaced = told(var / "site", "restore", str(backup), "--replace", **first)

    assert again["documents"] == replaced["documents"] >= 20
    assert "not empty" in refused
    assert "secret-of-lab" not in refused
    assert told(var / "site", "backup", "drill", str(var / "own.backup"), **first)["fingerprint"]


def test_a_database_in_use_is_not_restored_into(site: Path, backup: Path) -> None:
    server = EmbeddedPostgres(site / "postgres")
    with psycopg.connect(**server.ensure_running().parameters(), dbname="sci_rag"):
        said = run(site, "restore", str(backup), "--replace", code=1)
    server.release()

    assert "1 other sessions use the database" in said


def test_a_backup_that_is_not_whole_touches_nothing(site: Path, backup: Path, var: Path) -> None:
    before = run(site, "corpus", "fingerprint")
    content = backup.read_bytes()
    changed = bytearray(content)
    changed[len(content) // 2] ^= 1

    for name, damaged in (("cut", content[: len(content) // 2]), ("changed", bytes(changed))):
        (var / name).write_bytes(damaged)
        said = run(site, "restore", str(var / name), "--replace", code=1)
        assert "breaks off" in said or "changed" in said
    assert run(site, "corpus", "fingerprint") == before
