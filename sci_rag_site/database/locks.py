"""Locks between processes. The kernel releases them however a process ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def open_lock(path: Path) -> int:
    """Open the lock file, made if missing for the owner of its directory; children do not inherit it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    if os.geteuid() == 0:
        owner = path.parent.stat()
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
    return descriptor


@contextmanager
def exclusively(path: Path) -> Iterator[None]:
    """Hold the lock at `path` against every other process and thread."""
    descriptor = open_lock(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        # Unlocked by name: a child forked by another thread meanwhile has a copy of the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


class SharedUse:
    """A share in something that the last user puts away. Belongs to the process that took it."""

    def __init__(self, path: Path) -> None:
        self._descriptor = open_lock(path)
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def is_last(self) -> bool:
        """Say whether nobody else has a share, and keep everybody out from now on if so."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def give_back(self) -> None:
        """End this process's share."""
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        os.close(self._descriptor)

    def drop_copy(self) -> None:
        """Close the descriptor a forked child inherited; the share stays with the parent."""
        os.close(self._descriptor)
