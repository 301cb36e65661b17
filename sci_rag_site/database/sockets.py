"""Where the embedded server listens: a directory that only its account and its users can enter."""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import sys
import tempfile
from pathlib import Path

from sci_rag_site.database.account import Account
from sci_rag_site.database.errors import EmbeddedPostgresError, explained

PORT = 5432
# The kernel's limit for the path of a socket, without the closing zero.
LONGEST = 103 if sys.platform == "darwin" else 107


def socket_file(directory: Path) -> Path:
    return directory / f".s.PGSQL.{PORT}"


def prepare(home: Path, account: Account | None) -> Path:
    """Return the private directory for the socket, made if missing.

    It lies beside the data. Only where that path is too long for a socket is it a directory below the
    runtime or temporary directory; one that somebody else made there is not trusted.
    """
    name = f"sci-rag-{hashlib.sha256(str(home).encode()).hexdigest()[:12]}"
    runtime = os.environ.get("XDG_RUNTIME_DIR") if account is None else None
    temporary = [Path(runtime or tempfile.gettempdir()), Path(tempfile.gettempdir()), Path("/tmp")]  # noqa: S108
    candidates = [home / "socket", *(parent / name for parent in temporary)]
    fitting = [path for path in candidates if len(os.fsencode(socket_file(path))) <= LONGEST]
    if not fitting:
        raise EmbeddedPostgresError(
            f"The path of the database's socket is too long for this system: {socket_file(candidates[0])}. "
            "Set SCI_RAG_VAR_DIR or TMPDIR to a shorter path."
        )
    directory = fitting[0]
    with explained(directory):
        _make_private(directory, account)
    return directory


def _make_private(directory: Path, account: Account | None) -> None:
    try:
        directory.mkdir(mode=0o700)
    except FileExistsError:
        found = directory.lstat()
        trusted = {os.geteuid(), account.uid if account else os.geteuid()}
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in trusted or found.st_mode & 0o077:
            raise EmbeddedPostgresError(
                f"The socket directory {directory} was made by somebody else or is open to others, so it is "
                "not trusted. Remove it, or set SCI_RAG_VAR_DIR to a shorter path so that it is not needed."
            ) from None
    if account is not None:
        account.own(directory)


def answers(directory: Path) -> bool:
    """Say whether a server listens in `directory`."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(5)
        try:
            probe.connect(str(socket_file(directory)))
        except OSError:
            return False
    return True


def clear(directory: Path) -> None:
    """Remove what a server that no longer runs left behind. Call only when nothing answers."""
    socket_file(directory).unlink(missing_ok=True)
    directory.joinpath(f"{socket_file(directory).name}.lock").unlink(missing_ok=True)
