"""Root and ordinary accounts: the server never runs as root and always reaches what it needs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sci_rag_site.database import programs
from sci_rag_site.embedded_postgres import EmbeddedPostgres
from tests.integration.site.conftest import ANOTHER_UID, IS_ROOT, USER_OF_SERVER, alive
from tests.integration.site.test_embedded_postgres import works

needs_root = pytest.mark.skipif(not IS_ROOT, reason="needs to be started by root")


def as_account(uid: int, command: list[str], code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    account: dict[str, Any] = {"user": uid, "group": uid, "extra_groups": []} if IS_ROOT else {}
    return subprocess.run(
        [*command, "-c", code, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd="/",
        check=False,
        **account,
    )


@needs_root
def test_under_root_the_server_runs_as_nobody_and_owns_its_data(home: Path) -> None:
    server = EmbeddedPostgres(home)
    server.ensure_running()

    process = Path(f"/proc/{server.cluster.postmaster().pid}/status").read_text()
    server.release()

    assert f"Uid:\t{ANOTHER_UID}\t{ANOTHER_UID}\t{ANOTHER_UID}\t{ANOTHER_UID}" in process
    assert "CapEff:\t0000000000000000" in process
    assert server.cluster.data.stat().st_uid == ANOTHER_UID


@pytest.mark.long
@needs_root
def test_a_checkout_the_account_cannot_enter_keeps_its_data_elsewhere_and_says_so_once(
    var: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    private = var / "private"
    private.mkdir(mode=0o700)
    directory, elsewhere = private / "checkout" / "postgres", var / "elsewhere"

    server = EmbeddedPostgres(directory, elsewhere=elsewhere)
    assert works(server.ensure_running())
    server.release()
    first = capsys.readouterr().err
    again = EmbeddedPostgres(directory, elsewhere=elsewhere)
    assert works(again.ensure_running())
    again.release()

    assert again.home == server.home
    assert server.home.parent == elsewhere
    assert str(server.home) in first
    assert capsys.readouterr().err == ""
    assert (directory / "location").read_text().strip() == str(server.home)


@pytest.mark.long
@needs_root
def test_programs_the_account_cannot_reach_are_copied_beside_the_data(
    var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = var / "private"
    private.mkdir(mode=0o700)
    original = programs.bundled()
    for part in (original.parent, original.parent.with_name("embedded_postgres.libs")):
        shutil.copytree(part, private / part.name)
    monkeypatch.setattr(programs, "bundled", lambda: private / "embedded_postgres" / "pginstall")
    home = var / "postgres"

    server = EmbeddedPostgres(home)
    assert works(server.ensure_running())
    server.release()

    assert home in server.cluster.programs.directory.parents
    again = EmbeddedPostgres(home)
    assert works(again.ensure_running())
    again.release()
    assert len(list(home.glob("programs*"))) == 1


@pytest.mark.long
@needs_root
def test_a_strict_umask_of_root_does_not_lock_the_account_out(var: Path) -> None:
    before = os.umask(0o077)
    try:
        server = EmbeddedPostgres(var / "new" / "postgres", elsewhere=var / "elsewhere")
        assert works(server.ensure_running())
        server.release()
    finally:
        os.umask(before)

    assert server.home == var / "new" / "postgres"


def test_an_ordinary_account_needs_nothing_else(var: Path, unprivileged_python: list[str]) -> None:
    if IS_ROOT:
        os.chown(var, ANOTHER_UID, ANOTHER_UID)

    run = as_account(ANOTHER_UID, unprivileged_python, USER_OF_SERVER, str(var / "postgres"))

    assert run.stderr == ""
    assert not alive(int(run.stdout.rsplit(maxsplit=1)[1]))
    assert (var / "postgres" / "data").stat().st_uid == (ANOTHER_UID if IS_ROOT else os.geteuid())


@needs_root
def test_root_and_the_owner_of_a_checkout_share_one_server(var: Path, unprivileged_python: list[str]) -> None:
    os.chown(var, ANOTHER_UID, ANOTHER_UID)
    server = EmbeddedPostgres(var / "postgres")
    server.ensure_running()

    run = as_account(ANOTHER_UID, unprivileged_python, USER_OF_SERVER, str(var / "postgres"))

    assert run.stderr == ""
    assert int(run.stdout.rsplit(maxsplit=1)[1]) == server.cluster.postmaster().pid
    server.release()
    assert {path.stat().st_uid for path in (var / "postgres").rglob("*")} == {ANOTHER_UID}


@needs_root
def test_an_account_without_a_name_is_told_why_it_cannot_begin(
    var: Path, unprivileged_python: list[str]
) -> None:
    os.chown(var, 54321, 54321)

    run = as_account(54321, unprivileged_python, USER_OF_SERVER, str(var / "postgres"))

    assert "54321 has no entry in /etc/passwd" in run.stderr
