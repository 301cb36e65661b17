"""Which process writes an answer, and whether it still lives: a lock on a file goes with its holder.

Process ids come again after a restart and mean nothing in another container; a lock does not lie. Where
the lock files are not shared, nothing is known and the clock decides.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
import uuid
from pathlib import Path

from django.conf import settings

_FORGOTTEN_AFTER = 24 * 3600
_lock = threading.Lock()
# By process id: a forked child must not pass for its parent.
_mine: dict[int, tuple[str, int]] = {}


def mine() -> str:
    """Return the name of this process; empty when it cannot be kept, and the clock has to do."""
    with _lock:
        if os.getpid() not in _mine:
            try:
                _mine[os.getpid()] = _registered()
            except OSError:
                return ""
        return _mine[os.getpid()][0]


def is_gone(name: str) -> bool:
    """Say whether the process `name` is known to have ended."""
    path = _folder() / name
    if not name or not path.is_file():
        return False
    if any(name == own for own, _ in _mine.values()):
        return False
    return _is_free(path)


def forget_old() -> None:
    """Remove the files of processes that ended long ago; no answer waits for them any more."""
    for path in _folder().glob("*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _FORGOTTEN_AFTER and _is_free(path):
                path.unlink()


def _registered() -> tuple[str, int]:
    _folder().mkdir(parents=True, exist_ok=True)
    name = uuid.uuid4().hex
    handle = os.open(_folder() / name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return name, handle


def _is_free(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _folder() -> Path:
    return Path(settings.VAR_DIR) / "answering"
