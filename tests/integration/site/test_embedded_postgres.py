"""A real server: shared, stopped by its last user, and back after everything was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from sci_rag_site.embedded_postgres import Connection, EmbeddedPostgres
from tests.integration.site.conftest import ROOT, USER_OF_SERVER, UserOfServer, alive, kill, wait_until


def connect(connection: Connection) -> psycopg.Connection:
    return psycopg.connect(**connection.parameters(), dbname=connection.database, autocommit=True)


def works(connection: Connection) -> bool:
    with connect(connection) as session:
        return session.execute("SELECT 1").fetchone() == (1,)


def remember(connection: Connection) -> None:
    with connect(connection) as session:
        session.execute("CREATE TABLE kept (n int)")
        session.execute("INSERT INTO kept VALUES (42)")


def remembered(connection: Connection) -> bool:
    with connect(connection) as session:
        return session.execute("SELECT n FROM kept").fetchall() == [(42,)]


def test_a_new_directory_gets_a_server_with_vectors_unicode_and_no_tcp(var: Path) -> None:
    server = EmbeddedPostgres(var / "postgres")

    connection = server.ensure_running()

    with connect(connection) as session:
        assert session.execute("SELECT '[1,0]'::vector <=> '[0,1]'").fetchone() == (1.0,)
        order = "SELECT datlocprovider, datlocale FROM pg_database WHERE datname = 'sci_rag'"
        assert session.execute(order).fetchone() == ("b", "C.UTF-8")
        shown = {
            name: session.execute(f"SHOW {name}").fetchone()[0]
            for name in ("server_encoding", "listen_addresses", "password_encryption")
        }
        assert shown == {
            "server_encoding": "UTF8",
            "listen_addresses": "",
            "password_encryption": "scram-sha-256",
        }
        methods = {row[0] for row in session.execute("SELECT auth_method FROM pg_hba_file_rules")}
        assert methods == {"scram-sha-256"}
    server.release()
    assert server.cluster.postmaster() is None


def test_files_are_readable_by_their_owner_only(server: EmbeddedPostgres) -> None:
    connection = server.ensure_running()

    assert (server.home / "password").stat().st_mode & 0o777 == 0o600
    assert server.cluster.data.stat().st_mode & 0o777 == 0o700
    assert connection.socket_directory.stat().st_mode & 0o777 == 0o700
    assert connection.password not in repr(connection)


def test_a_wrong_password_is_refused(server: EmbeddedPostgres) -> None:
    parameters = server.ensure_running().parameters() | {"password": "guess"}

    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(**parameters, dbname="sci_rag")


def test_the_last_user_stops_the_server(
    server: EmbeddedPostgres, another_user: Callable[..., UserOfServer]
) -> None:
    server.ensure_running()
    first, second = another_user(server.home), another_user(server.home)
    assert first.postmaster == second.postmaster == server.cluster.postmaster().pid

    server.release()
    first.leave()
    assert alive(second.postmaster)
    second.leave()

    assert not alive(second.postmaster)


def test_processes_that_start_at_once_share_one_server(home: Path) -> None:
    users = start_at_once(home, 4)

    pids = {user.stdout.readline().rsplit(maxsplit=1)[1] for user in users}

    assert len(pids) == 1
    assert [user.communicate(timeout=60) and user.returncode for user in users] == [0, 0, 0, 0]
    assert not alive(int(pids.pop()))


def test_processes_that_begin_with_nothing_at_once_share_one_new_database(var: Path) -> None:
    users = start_at_once(var / "postgres", 3)

    pids = {user.stdout.readline().rsplit(maxsplit=1)[1] for user in users}

    assert len(pids) == 1
    assert [user.communicate(timeout=60) and user.returncode for user in users] == [0, 0, 0]


def start_at_once(home: Path, number: int) -> list[subprocess.Popen[str]]:
    command = [sys.executable, "-c", USER_OF_SERVER, str(home)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return [subprocess.Popen(command, cwd=ROOT, text=True, **pipes) for _ in range(number)]


def test_a_server_left_by_a_killed_owner_is_reused(
    server: EmbeddedPostgres, another_user: Callable[..., UserOfServer]
) -> None:
    owner = another_user(server.home)
    owner.kill()
    assert alive(owner.postmaster)

    connection = server.ensure_running()

    assert server.cluster.postmaster().pid == owner.postmaster
    assert works(connection)
    server.release()
    assert not alive(owner.postmaster)


def test_a_server_nobody_uses_can_be_stopped_and_one_in_use_cannot(
    server: EmbeddedPostgres, another_user: Callable[..., UserOfServer]
) -> None:
    owner = another_user(server.home)
    assert not server.stop_if_unused()
    assert alive(owner.postmaster)
    owner.kill()

    assert server.stop_if_unused()
    assert not alive(owner.postmaster)


def test_a_killed_server_recovers_what_it_had_promised_while_its_users_live(server: EmbeddedPostgres) -> None:
    connection = server.ensure_running()
    remember(connection)
    killed = server.cluster.postmaster().pid
    kill(killed)

    again = server.ensure_running()

    assert server.cluster.postmaster().pid != killed
    assert remembered(again)


def test_owner_and_server_killed_together_leave_nothing_that_hinders(
    server: EmbeddedPostgres, another_user: Callable[..., UserOfServer]
) -> None:
    owner = another_user(server.home)
    owner.kill()
    kill(owner.postmaster)
    assert (server.cluster.data / "postmaster.pid").exists()
    assert (server.home / "socket" / ".s.PGSQL.5432").exists()

    assert works(server.ensure_running())


def test_a_pid_file_from_before_a_reboot_may_name_a_living_process(server: EmbeddedPostgres) -> None:
    server.ensure_running()
    kill(server.cluster.postmaster().pid)
    stranger = subprocess.Popen(
        ["sleep", "60"], **({"user": 65534, "group": 65534} if os.geteuid() == 0 else {})
    )
    pid_file = server.cluster.data / "postmaster.pid"
    lock_file = server.home / "socket" / ".s.PGSQL.5432.lock"
    for path in (pid_file, lock_file):
        _, _, rest = path.read_text().partition("\n")
        path.write_text(f"{stranger.pid}\n{rest}")

    connection = server.ensure_running()

    assert works(connection)
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_a_server_starts_although_a_query_of_the_killed_one_still_runs(server: EmbeddedPostgres) -> None:
    connection = server.ensure_running()
    remember(connection)
    session = connect(connection)
    backend = session.info.backend_pid
    # A stopped backend cannot notice that its server is gone, like one deep in a long computation.
    os.kill(backend, signal.SIGSTOP)
    kill(server.cluster.postmaster().pid)
    waker = subprocess.Popen(["sh", "-c", f"sleep 1; kill -CONT {backend}"])

    again = server.ensure_running()

    assert remembered(again)
    waker.wait()
    wait_until(lambda: not alive(backend))
    session.close()


def test_an_interrupted_initdb_is_begun_again(var: Path) -> None:
    half = var / "postgres" / "initdb.abc" / "data"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")

    server = EmbeddedPostgres(var / "postgres")
    assert works(server.ensure_running())

    assert not half.exists()
    server.release()


def test_a_database_lost_between_initdb_and_its_creation_is_created(server: EmbeddedPostgres) -> None:
    connection = server.ensure_running()
    with psycopg.connect(**connection.parameters(), dbname="postgres", autocommit=True) as session:
        session.execute("DROP DATABASE sci_rag")
    server.release()

    assert works(server.ensure_running())


def test_a_forked_child_holds_nothing_and_stops_nothing(server: EmbeddedPostgres) -> None:
    server.ensure_running()
    pid = os.fork()
    if pid == 0:
        # What a careless child does: it runs the handlers it inherited.
        try:
            server.release()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)

    assert works(server.ensure_running())


def test_a_forked_child_that_outlives_its_parent_does_not_keep_the_server(home: Path) -> None:
    code = (
        "import os, sys, time; from pathlib import Path; from sci_rag_site.embedded_postgres import *\n"
        "s = EmbeddedPostgres(Path(sys.argv[1])); s.ensure_running()\n"
        "print(s.cluster.postmaster().pid, flush=True)\n"
        "pid = os.fork()\n"
        "if pid == 0:\n    os.close(1); os.close(2); time.sleep(60); os._exit(0)\n"
        "print(pid, flush=True)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(home)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    postmaster, child = map(int, run.stdout.split())

    assert not alive(postmaster)
    kill(child)


def test_a_forked_child_takes_a_share_of_its_own(server: EmbeddedPostgres) -> None:
    server.ensure_running()
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            with connect(server.ensure_running()) as session:
                os.write(write_end, str(session.execute("SELECT 7").fetchone()[0]).encode())
        finally:
            os._exit(0)
    os.waitpid(pid, 0)

    assert os.read(read_end, 10) == b"7"
    os.close(read_end)
    os.close(write_end)


def test_ctrl_c_in_the_terminal_of_one_user_leaves_the_server_to_the_others(
    server: EmbeddedPostgres, another_user: Callable[..., UserOfServer]
) -> None:
    starter = another_user(server.home)
    server.ensure_running()

    os.killpg(starter.process.pid, signal.SIGINT)
    starter.process.communicate(timeout=30)

    assert alive(starter.postmaster)
    assert works(server.ensure_running())


def test_programs_started_by_a_user_do_not_keep_the_server(home: Path) -> None:
    code = (
        "import subprocess, sys; from pathlib import Path; from sci_rag_site.embedded_postgres import *\n"
        "s = EmbeddedPostgres(Path(sys.argv[1])); s.ensure_running()\n"
        "nowhere = subprocess.DEVNULL\n"
        "child = subprocess.Popen(['sleep', '60'], close_fds=False, stdout=nowhere, stderr=nowhere)\n"
        "print(s.cluster.postmaster().pid, child.pid, flush=True)"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(home)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    postmaster, child = map(int, run.stdout.split())

    assert not alive(postmaster)
    kill(child)


def test_failed_statements_leave_no_text_in_the_servers_log(server: EmbeddedPostgres) -> None:
    with connect(server.ensure_running()) as session:
        with pytest.raises(psycopg.Error):
            session.execute("SELECT 'canary-statement'::int")
        with pytest.raises(psycopg.Error):
            session.execute(
                "CREATE TEMP TABLE t (x text PRIMARY KEY); INSERT INTO t VALUES ('canary'), ('canary')"
            )

    assert "canary" not in server.cluster.log.read_text()


def test_joining_again_costs_next_to_nothing(server: EmbeddedPostgres) -> None:
    import timeit

    server.ensure_running()

    assert timeit.timeit(server.ensure_running, number=1000) < 1
