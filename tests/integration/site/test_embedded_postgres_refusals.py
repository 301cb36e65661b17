"""When the server cannot be used, one line says why and what to do."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sci_rag_site.database import programs, readiness, sockets
from sci_rag_site.embedded_postgres import EmbeddedPostgres, EmbeddedPostgresError
from tests.integration.site.conftest import ANOTHER_UID, IS_ROOT, ROOT, kill


def refusal(directory: Path) -> str:
    server = EmbeddedPostgres(directory)
    with pytest.raises(EmbeddedPostgresError) as caught:
        server.ensure_running()
    server.release()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_platform_without_binaries_is_told_to_set_database_url(
    var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "find_spec", lambda _name: None)

    said = refusal(var / "postgres")

    assert "no bundled PostgreSQL for this platform" in said
    assert "DATABASE_URL" in said


@pytest.fixture
def tiny_disk(var: Path) -> Iterator[Path]:
    place = var / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m,mode=755", "tmpfs", str(place)],
        check=False,
        capture_output=True,
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount a small file system")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_full_disk_is_named_before_anything_is_written(tiny_disk: Path) -> None:
    said = refusal(tiny_disk / "postgres")

    assert "no space left" in said
    assert not list(tiny_disk.glob("postgres/initdb.*"))


def test_a_disk_that_fills_up_during_initdb_leaves_nothing_half_made(
    tiny_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: shutil._ntuple_diskusage(10**9, 0, 10**9))
    (tiny_disk / "ballast").write_bytes(b"x" * 50_000_000)

    said = refusal(tiny_disk / "postgres")

    assert "no space left" in said
    assert not list(tiny_disk.glob("postgres/initdb.*"))


def test_a_directory_that_may_not_be_written_is_named(var: Path, unprivileged_python: list[str]) -> None:
    code = (
        "import sys; from pathlib import Path; from sci_rag_site.embedded_postgres import *\n"
        "try: EmbeddedPostgres(Path(sys.argv[1])).ensure_running()\n"
        "except EmbeddedPostgresError as error: print(error)"
    )
    var.chmod(0o555)
    account = {"user": ANOTHER_UID, "group": ANOTHER_UID, "extra_groups": []} if IS_ROOT else {}

    run = subprocess.run(
        [*unprivileged_python, "-c", code, str(var / "postgres")],
        capture_output=True,
        text=True,
        cwd="/",
        check=True,
        **account,
    )

    assert "may not be written by this account" in run.stdout
    assert "SCI_RAG_VAR_DIR" in run.stdout
    assert run.stdout.count("\n") == 1


def test_a_path_through_a_file_is_named(var: Path) -> None:
    (var / "file").touch()

    assert "Not a directory" in refusal(var / "file" / "postgres")


def test_data_of_another_major_version_comes_with_the_way_to_carry_it_over(home: Path) -> None:
    (home / "data" / "PG_VERSION").write_text("17\n")

    said = refusal(home)

    assert "made by PostgreSQL 17; the bundled server is 18" in said
    assert "pg_dumpall" in said
    assert (home / "data" / "PG_VERSION").read_text() == "17\n"


def test_a_damaged_data_directory_is_never_overwritten(home: Path) -> None:
    (home / "data" / "global" / "pg_control").unlink()

    assert "not a whole PostgreSQL data directory" in refusal(home)
    assert (home / "data" / "base").is_dir()


def test_a_setting_that_stops_the_server_is_quoted(home: Path) -> None:
    with (home / "data" / "postgresql.auto.conf").open("a") as file:
        file.write("work_mem = 'plenty'\n")

    said = refusal(home)

    assert "did not start" in said
    assert "server.log" in said


def test_a_socket_somebody_else_answers_on_is_not_taken_over(home: Path) -> None:
    directory = sockets.prepare(home, EmbeddedPostgres(home).account)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(sockets.socket_file(directory)))
        other.listen()

        assert "Another server already answers" in refusal(home)
    assert sockets.socket_file(directory).exists()


@pytest.fixture
def long_home(var: Path) -> Path:
    """A directory whose path is too long for a socket in it."""
    home = var / ("n" * 60) / ("m" * 60)
    home.mkdir(parents=True)
    return home


def test_a_long_path_puts_the_socket_in_a_private_temporary_directory(long_home: Path) -> None:
    server = EmbeddedPostgres(long_home)

    directory = server.ensure_running().socket_directory

    assert long_home not in directory.parents
    assert directory.stat().st_mode & 0o777 == 0o700
    server.release()
    shutil.rmtree(directory)


@pytest.mark.parametrize("kind", ["open to others", "a link", "another owner's"])
def test_a_temporary_socket_directory_of_somebody_else_is_not_trusted(
    long_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    account = EmbeddedPostgres(long_home).account
    directory = sockets.prepare(long_home, account)
    directory.rmdir()
    if kind == "a link":
        directory.symlink_to(tmp_path)
    else:
        directory.mkdir(mode=0o700)
    if kind == "open to others":
        directory.chmod(0o777)
    if kind == "another owner's":
        monkeypatch.setattr(os, "geteuid", lambda: 4711)
        if IS_ROOT:
            os.chown(directory, 4712, 4712)
    try:
        with pytest.raises(EmbeddedPostgresError, match="not trusted"):
            sockets.prepare(long_home, account)
    finally:
        directory.unlink() if directory.is_symlink() else directory.rmdir()


def test_a_path_too_long_everywhere_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "LONGEST", 10)

    assert "too long for this system" in refusal(home)


def test_an_old_pgvector_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "OLDEST_PGVECTOR", (99, 0, 0))

    said = refusal(home)

    assert "99.0.0 or newer is needed" in said


def test_a_vector_that_computes_wrongly_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "SELF_TEST", "SELECT ('[1,0]'::vector <=> '[0,1]') = 0.5")

    assert "computes wrong distances" in refusal(home)


def test_a_lost_password_is_explained(home: Path) -> None:
    (home / "password").write_text("another")

    assert "does not accept the password" in refusal(home)


def test_a_directory_removed_under_a_running_server_gives_a_new_one(home: Path) -> None:
    first = EmbeddedPostgres(home)
    first.ensure_running()
    orphan = first.cluster.postmaster().pid
    shutil.rmtree(home)

    second = EmbeddedPostgres(home)
    second.ensure_running()

    assert second.cluster.postmaster().pid != orphan
    second.release()
    kill(orphan)


def test_nothing_outside_the_package_is_needed(var: Path) -> None:
    import sys

    code = (
        "import sys; from pathlib import Path; from sci_rag_site.embedded_postgres import *\n"
        "s = EmbeddedPostgres(Path(sys.argv[1])); s.ensure_running(); s.release(); print('done')"
    )
    environment = {
        "PATH": "/nonexistent",
        "PGDATA": "/nonexistent",
        "PGHOST": "example.org",
        "LC_ALL": "de_DE.UTF-8",
    }

    run = subprocess.run(
        [sys.executable, "-c", code, str(var / "postgres")],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (run.stdout, run.stderr) == ("done\n", "")
