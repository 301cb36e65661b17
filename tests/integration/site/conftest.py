"""Real servers in directories of their own, and processes that use them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sci_rag_site.database.cluster import lives
from sci_rag_site.embedded_postgres import EmbeddedPostgres

ROOT = Path(__file__).resolve().parents[3]
IS_ROOT = os.geteuid() == 0
ANOTHER_UID = 65534

# Takes a server, says so, and lets go at end of input.
USER_OF_SERVER = """
import sys
from pathlib import Path
from sci_rag_site.embedded_postgres import EmbeddedPostgres
server = EmbeddedPostgres(Path(sys.argv[1]))
print(server.ensure_running().socket_directory, server.cluster.postmaster().pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A stopped server's directory, made once: initdb costs a second each time."""
    directory = _open_directory()
    server = EmbeddedPostgres(directory / "postgres")
    server.ensure_running()
    server.release()
    yield directory / "postgres"
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def var() -> Iterator[Path]:
    """An empty directory that every account can enter."""
    directory = _open_directory()
    yield directory
    for pid_file in directory.rglob("postmaster.pid"):
        kill(int(pid_file.read_text().splitlines()[0]))
    shutil.rmtree(directory, ignore_errors=True)


def _open_directory() -> Path:
    directory = Path(tempfile.mkdtemp(prefix="sci-rag-test-"))
    directory.chmod(0o755)
    return directory


@pytest.fixture
def home(var: Path, template: Path) -> Path:
    """A directory that already holds a stopped server with the product's database."""
    subprocess.run(["cp", "-a", str(template), str(var / "postgres")], check=True)
    return var / "postgres"


@pytest.fixture
def server(home: Path) -> Iterator[EmbeddedPostgres]:
    server = EmbeddedPostgres(home)
    yield server
    server.release()


class UserOfServer:
    """Another process that holds the server."""

    def __init__(self, home: Path, *, new_session: bool = True) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER_OF_SERVER, str(home)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
            start_new_session=new_session,
        )  # fmt: skip
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        self.postmaster = int(line.rsplit(maxsplit=1)[1])

    def leave(self) -> None:
        _, errors = self.process.communicate(timeout=60)
        assert (self.process.returncode, errors) == (0, "")

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def another_user() -> Iterator[Callable[..., UserOfServer]]:
    started: list[UserOfServer] = []

    def start(home: Path, **options: bool) -> UserOfServer:
        started.append(UserOfServer(home, **options))
        return started[-1]

    yield start
    for user in started:
        if user.process.poll() is None:
            user.kill()


@pytest.fixture(scope="session")
def unprivileged_python() -> list[str]:
    """An interpreter with this environment's packages that another account can run."""
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (sys.executable, shutil.which(name, path="/usr/bin:/usr/local/bin"), f"/usr/bin/{name}"):
        command = [
            "/usr/bin/env",
            f"PYTHONPATH={ROOT}:{packages}",
            "PYTHONDONTWRITEBYTECODE=1",
            str(candidate),
        ]
        probe = [*command, "-c", "import django, psycopg"]
        try:
            result = subprocess.run(
                probe,
                check=False,
                capture_output=True,
                cwd="/",
                user=ANOTHER_UID,
                group=ANOTHER_UID,
                extra_groups=[],
            )
        except OSError:
            continue
        if result.returncode == 0:
            return command
    pytest.skip("no interpreter here that an unprivileged account can run")


def kill(pid: int) -> None:
    """Kill a process that is nobody's child here, and wait until it is gone."""
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, OverflowError):
        return
    wait_until(lambda: not alive(pid))


def alive(pid: int) -> bool:
    """Say what the program that holds the server sees: a process may be ending for a moment more."""
    return lives(pid)


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
