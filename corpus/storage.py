"""Original files on disk, each under its own SHA-256, written so that no half file is ever seen."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, BufferedWriter
from pathlib import Path

from django.conf import settings

from corpus import whole_files

_BLOCK = 1 << 20
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class NoRoom(OSError):
    """The disk is full, or what the site may have of it."""


class FileChanged(OSError):
    """A file was written to between being read and being stored."""


def root() -> Path:
    """Return the folder of originals."""
    return Path(settings.MEDIA_ROOT) / "originals"


def path_of(sha256: str) -> Path:
    """Return where the original with this hash is kept. Names come from hashes only, never from users."""
    return root() / sha256[:2] / sha256[2:4] / sha256


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file, read in pieces. A link in the last place is not followed."""
    with _opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _opened(path: Path) -> BufferedReader:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    file = os.fdopen(descriptor, "rb")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return file


@contextmanager
def room() -> Iterator[None]:
    """Raise `NoRoom` for what the system says when a disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise NoRoom(error.errno, error.strerror) from error
        raise


def store(path: Path, sha256: str) -> Path:
    """Keep a copy of `path`, whose content must have the hash `sha256`; return where it is.

    The copy appears under its name only when it is complete and on disk. Storing what is there already
    does nothing but renew its age, so that the sweep leaves it alone. Raises `NoRoom`.
    """
    target = path_of(sha256)
    if target.exists():
        os.utime(target)
        return target
    with room():
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_files.written(target) as copy:
            _copy(path, copy, sha256)
        _sync_folder(target.parent)
    return target


def _copy(path: Path, target: BufferedWriter, sha256: str) -> None:
    digest = hashlib.sha256()
    with _opened(path) as source:
        while block := source.read(_BLOCK):
            digest.update(block)
            target.write(block)
    if digest.hexdigest() != sha256:
        raise FileChanged(f"{path.name} changed while it was being taken in.")


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(sha256: str) -> bool:
    """Remove the original with this hash; say whether there was one."""
    try:
        path_of(sha256).unlink()
    except FileNotFoundError:
        return False
    return True


def older_than(seconds: float) -> Iterator[Path]:
    """Yield the files of the store, unfinished copies included, that nobody touched for `seconds`."""
    limit = time.time() - seconds
    for path in root().glob("*/*/*"):
        try:
            if path.stat().st_mtime < limit:
                yield path
        except FileNotFoundError:
            continue
