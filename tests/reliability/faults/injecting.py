"""Making the N-th statement, request or write of a flow fail, once or until it is lifted, and counting them.

Nothing of the product is replaced. Statements fail because the server raises the error or ends the session;
requests fail because the loopback server misbehaves; files fail below the product, where the system is asked.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.db import InterfaceError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

SQL, HTTP, FILE = "sql", "http", "file"
# What PostgreSQL calls it when it raises the error itself.
_STATES: Final = {
    "serialization": "40001",
    "timeout": "57014",
    "enospc": "53100",
    "eio": "58030",
}
_FILE_ERRORS: Final = {"enospc": errno.ENOSPC, "eio": errno.EIO}
ERRORS: Final = {
    SQL: ("operational", "interface", *_STATES, "commit-lost"),
    HTTP: ("reset", "unavailable", "timeout"),
    FILE: tuple(_FILE_ERRORS),
}


@dataclass(frozen=True, slots=True)
class Point:
    """The `number`-th call of a kind, and how it fails: it alone, or it and all that follow."""

    kind: str
    number: int
    error: str
    persistent: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.number} {self.error} {'persistent' if self.persistent else 'transient'}"


class Injector:
    """Counts the calls of a process, and lets some of them fail."""

    def __init__(self, files_below: Path) -> None:
        self.counts: Counter[str] = Counter()
        self.fired = 0
        self._point: Point | None = None
        self._lock = threading.Lock()
        self._below = str(files_below.resolve()) + os.sep
        self._is_counting = False

    @contextlib.contextmanager
    def armed(self, point: Point | None) -> Iterator[None]:
        """Count from one, and let `point` fail as long as the block runs."""
        with self._lock:
            self.counts, self.fired, self._point, self._is_counting = Counter(), 0, point, True
        try:
            yield
        finally:
            with self._lock:
                self._point, self._is_counting = None, False

    def due(self, kind: str) -> str:
        """Count a call; return the error it ends with, if so."""
        with self._lock:
            if not self._is_counting:
                return ""
            self.counts[kind] += 1
            point, number = self._point, self.counts[kind]
            if point is None or point.kind != kind:
                return ""
            if number != point.number and not (point.persistent and number > point.number):
                return ""
            self.fired += 1
            return point.error

    # --- the database -------------------------------------------------------------------------------

    def statement(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        """Stand around every statement of every connection."""
        error = self.due(SQL)
        if error and error != "commit-lost":
            _fail(context["connection"], error, lambda said: execute(said, None, False, context))
        return execute(sql, params, many, context)

    def joined(self, connection: BaseDatabaseWrapper, **_: Any) -> None:
        """Stand around the statements of a connection that was just made, in whatever thread."""
        if self.statement not in connection.execute_wrappers:
            connection.execute_wrappers.append(self.statement)

    def commit(self, real: Callable[[BaseDatabaseWrapper], None], connection: BaseDatabaseWrapper) -> None:
        """Stand around every commit, which fails before anything of it holds, or after all of it does."""
        error = self.due(SQL)
        if error == "commit-lost":
            real(connection)
            error = "operational"
        if error:
            _fail(connection, error, lambda said: _executed(connection, said))
        real(connection)

    # --- the disk -----------------------------------------------------------------------------------

    def of_file(self, path: object) -> None:
        """Count a change of a file, where it is below the folder that is looked at, and let it fail."""
        if not os.fspath(path).startswith(self._below):  # type: ignore[call-overload]
            return
        if error := self.due(FILE):
            number = _FILE_ERRORS[error]
            raise OSError(number, os.strerror(number), str(path))

    @contextlib.contextmanager
    def everywhere(self) -> Iterator[Injector]:
        """Stand around the database and the disk of this process as long as the block runs."""
        real_commit = BaseDatabaseWrapper._commit
        injector = self

        def commit(connection: BaseDatabaseWrapper) -> None:
            injector.commit(real_commit, connection)

        connection_created.connect(self.joined)
        for connection in connections.all(initialized_only=True):
            self.joined(connection)
        BaseDatabaseWrapper._commit = commit  # type: ignore[method-assign]
        try:
            with _disk(self):
                yield self
        finally:
            BaseDatabaseWrapper._commit = real_commit  # type: ignore[method-assign]
            connection_created.disconnect(self.joined)
            for connection in connections.all(initialized_only=True):
                with contextlib.suppress(ValueError):
                    connection.execute_wrappers.remove(self.statement)


def _executed(connection: BaseDatabaseWrapper, said: str) -> None:
    with connection.wrap_database_errors:
        connection.connection.execute(said)


def _fail(connection: BaseDatabaseWrapper, error: str, execute: Callable[[str], Any]) -> None:
    """Let the server raise the error; a connection that is lost is lost at both ends."""
    if error == "operational":
        execute("SELECT pg_terminate_backend(pg_backend_pid())")
    elif error == "interface":
        connection.connection.close()
        connection.errors_occurred = True
        raise InterfaceError("connection already closed")
    else:
        execute(f"DO $$ BEGIN RAISE EXCEPTION 'fault' USING ERRCODE = '{_STATES[error]}'; END $$")
    raise AssertionError(f"{error} did not happen")


class _Writing:
    """A file that is written to, each write looked at first."""

    def __init__(self, file: Any, path: str, injector: Injector) -> None:
        self._file, self._path, self._injector = file, path, injector

    def write(self, data: bytes) -> int:
        self._injector.of_file(self._path)
        return int(self._file.write(data))

    def __enter__(self) -> _Writing:
        self._file.__enter__()
        return self

    def __exit__(self, *details: Any) -> None:
        self._file.__exit__(*details)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@contextlib.contextmanager
def _disk(injector: Injector) -> Iterator[None]:
    """Stand around the calls of the system by which files come to be, are written, synced, named and go."""
    real = {name: getattr(os, name) for name in ("fsync", "fdopen", "rename", "mkdir", "utime", "unlink")}
    mkstemp = tempfile.mkstemp

    def fsync(descriptor: int) -> None:
        injector.of_file(_path_of(descriptor))
        real["fsync"](descriptor)

    def fdopen(descriptor: int, mode: str = "r", *rest: Any, **named: Any) -> Any:
        file = real["fdopen"](descriptor, mode, *rest, **named)
        return _Writing(file, _path_of(descriptor), injector) if "w" in mode else file

    def rename(source: Any, target: Any, **named: Any) -> None:
        injector.of_file(target)
        real["rename"](source, target, **named)

    def mkdir(path: Any, *rest: Any, **named: Any) -> None:
        injector.of_file(path)
        real["mkdir"](path, *rest, **named)

    def utime(path: Any, *rest: Any, **named: Any) -> None:
        injector.of_file(path)
        real["utime"](path, *rest, **named)

    def unlink(path: Any, **named: Any) -> None:
        injector.of_file(path)
        real["unlink"](path, **named)

    def made(*rest: Any, **named: Any) -> tuple[int, str]:
        injector.of_file(os.path.join(named.get("dir") or "", "new"))  # noqa: PTH118 - as it comes
        return mkstemp(*rest, **named)

    patched = {
        "fsync": fsync, "fdopen": fdopen, "rename": rename, "mkdir": mkdir, "utime": utime, "unlink": unlink,
    }  # fmt: skip
    for name, function in patched.items():
        setattr(os, name, function)
    tempfile.mkstemp = made
    try:
        yield
    finally:
        tempfile.mkstemp = mkstemp
        for name, function in real.items():
            setattr(os, name, function)


def _path_of(descriptor: int) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - no file of ours
    except OSError:
        return ""
