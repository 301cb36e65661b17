"""`init`, `users`, `up` and `demo`, the last two as people run them."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from django.contrib.auth.models import User

from sci_rag_site.commands.init import init
from sci_rag_site.commands.users import users
from tests.integration.site.conftest import ROOT, alive, kill, wait_until
from tests.loopback.prepared_site import copy_prepared

EXAMPLE = ROOT / ".env.example"


@pytest.fixture
def checkout(tmp_path: Path, settings: Any) -> Path:
    (tmp_path / ".env.example").write_text(EXAMPLE.read_text())
    settings.BASE_DIR = tmp_path
    return tmp_path


def test_init_writes_every_setting_explained_and_readable_by_its_owner_only(checkout: Path) -> None:
    assert CliRunner().invoke(init, []).exit_code == 0

    assert (checkout / ".env").read_text() == EXAMPLE.read_text()
    assert stat.S_IMODE((checkout / ".env").stat().st_mode) == 0o600


def test_init_makes_a_key_for_production(checkout: Path) -> None:
    assert CliRunner().invoke(init, ["--production"]).exit_code == 0

    assert re.search(r"^SECRET_KEY=[\w-]{64,}$", (checkout / ".env").read_text(), re.MULTILINE)


def test_init_never_overwrites(checkout: Path) -> None:
    (checkout / ".env").write_text("MINE=1\n")

    result = CliRunner().invoke(init, [])

    assert result.exit_code == 1
    assert "exists already" in result.output
    assert (checkout / ".env").read_text() == "MINE=1\n"


@pytest.mark.django_db
def test_an_account_gets_its_group_and_a_password_that_works() -> None:
    result = CliRunner().invoke(users, ["create", "ada", "--group", "librarian", "--json"])

    made = json.loads(result.stdout)
    user = User.objects.get(username="ada")
    assert user.check_password(made["password"])
    assert [group.name for group in user.groups.all()] == ["librarian"]
    assert user.is_staff
    assert not user.is_superuser


@pytest.mark.django_db
def test_a_password_can_be_given_and_is_then_not_repeated() -> None:
    result = CliRunner().invoke(
        users, ["create", "bo", "--group", "asker", "--password-stdin"], input="a long enough phrase\n"
    )

    assert "phrase" not in result.output
    assert User.objects.get(username="bo").check_password("a long enough phrase")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["create", "x", "--group", "kings"],
            "no group 'kings'. Use one of: administrator, asker, ",
        ),
        (["create", "not a name", "--group", "asker"], "valid username"),
        (["create", "\udcff", "--group", "asker"], "valid username"),
        (["create", "x", "--group", "\udcff"], r"no group '\udcff'"),
        (["create", "taken", "--group", "asker"], "an account 'taken' already"),
    ],
)
def test_an_account_that_may_not_be_is_refused_in_one_line(arguments: list[str], said: str) -> None:
    User.objects.create_user("taken")

    result = CliRunner().invoke(users, arguments)

    assert result.exit_code == 1
    assert said in result.output
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_a_weak_password_is_refused() -> None:
    result = CliRunner().invoke(
        users, ["create", "cy", "--group", "asker", "--password-stdin"], input="short\n"
    )

    assert result.exit_code == 1
    assert "too short" in result.output


class Site:
    """`sci-rag up` or `demo` in a process of its own."""

    def __init__(self, var: Path, *arguments: str) -> None:
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "sci_rag_site.settings",
            "SCI_RAG_VAR_DIR": str(var),
            "SCI_RAG_LOG_FORMAT": "json",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sci_rag_site", *arguments],
            cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        self.lines: list[str] = []
        self.var = var

    def read_until(self, text: str) -> str:
        while text not in (line := self.process.stdout.readline()):
            assert line, self.process.stderr.read()
            self.lines.append(line)
        self.lines.append(line)
        return line

    def get(self, port: int, path: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        connection.close()
        return response

    def workers(self) -> list[int]:
        listing = subprocess.run(
            ["ps", "-eo", "pid,args"], capture_output=True, text=True, check=False
        ).stdout
        marked = [line.split()[0] for line in listing.splitlines() if "sci_rag_site.worker" in line]
        return [int(pid) for pid in marked if self._ours(int(pid))]

    def _ours(self, pid: int) -> bool:
        try:
            return f"SCI_RAG_VAR_DIR={self.var}".encode() in Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            return False

    def postmaster(self) -> int:
        return int((self.var / "postgres" / "data" / "postmaster.pid").read_text().splitlines()[0])

    def end(self, number: int) -> str:
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=60)
        return errors


@pytest.fixture
def new_site(var: Path) -> Iterator:
    """Start commands on a directory in which nothing is."""
    started: list[Site] = []

    def start(*arguments: str) -> Site:
        started.append(Site(var, *arguments))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.end(signal.SIGTERM)
        for pid in each.workers():
            kill(pid)


@pytest.fixture
def site(var: Path, new_site: Callable[..., Site]) -> Callable[..., Site]:
    """Start commands on a database that is set up."""
    copy_prepared(var)
    return new_site


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_site_worker_and_database_start_and_stop_together(site, number: int) -> None:
    port = free_port()
    running = site("up", "--port", str(port))
    running.read_until("The site is at")
    wait_until(lambda: len(running.workers()) > 1, seconds=30)
    workers, postmaster = running.workers(), running.postmaster()
    assert running.get(port, "/healthz").status == 200
    assert running.get(port, "/readyz").status == 200
    assert running.get(port, "/?question=canary-question").status in {200, 302}

    errors = running.end(number)

    assert running.process.returncode in {0, 128 + signal.SIGTERM}
    assert not any(alive(pid) for pid in [*workers, postmaster])
    assert "Traceback" not in errors
    assert "canary-question" not in errors


@pytest.mark.long
def test_a_killed_site_leaves_no_worker_behind(site) -> None:
    running = site("up", "--port", str(free_port()))
    running.read_until("The site is at")
    wait_until(lambda: len(running.workers()) > 1, seconds=30)
    workers = running.workers()

    running.end(signal.SIGKILL)

    wait_until(lambda: not any(alive(pid) for pid in workers), seconds=30)


def test_a_worker_that_dies_is_started_again(site) -> None:
    running = site("up", "--port", str(free_port()))
    running.read_until("The site is at")
    wait_until(lambda: len(running.workers()) > 1, seconds=30)
    first = running.workers()
    for pid in first:
        kill(pid)

    wait_until(lambda: set(running.workers()) - set(first) != set(), seconds=30)


def test_a_port_in_use_is_one_clear_line(site) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        running = site("up", "--port", str(port))
        _, errors = running.process.communicate(timeout=60)

    assert running.process.returncode == 1
    assert errors.startswith(f"Error: Port {port} on 127.0.0.1 is in use by another program. ")
    assert errors.count("\n") == 1


def test_the_demo_answers_with_citations_serves_and_is_quick_the_second_time(new_site) -> None:
    first = new_site("demo", "--no-serve")
    output, errors = first.process.communicate(timeout=280)
    assert (first.process.returncode, errors) == (0, "")
    assert re.search(r"\[1\]", output)
    port = free_port()

    second = new_site("demo", "--port", str(port))
    ready = second.read_until("Ready after")
    second.read_until("demo-librarian")
    answer = next(line for line in second.lines if "This answer" in line).split(f":{port}")[1].strip()

    assert float(re.search(r"after ([\d.]+) s", ready)[1]) < 15
    assert "20 documents, 0 of them new" in "".join(second.lines)
    assert second.get(port, answer).status == 302
    passwords = first.var / "demo-accounts.txt"
    assert stat.S_IMODE(passwords.stat().st_mode) == 0o600
    assert {line.split()[0] for line in passwords.read_text().splitlines()} == {
        "demo-librarian",
        "demo-asker",
        "demo-expert",
    }
    assert "Traceback" not in second.end(signal.SIGINT)
