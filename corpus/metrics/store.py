"""Counting in files: one for each process, added up by whoever is asked for the numbers.

A file is a row of records of fixed size, a number and the name it belongs to. What is counted is there at
once, also for a process that is killed in the next moment, and costs one small write into memory of the
system. A process holds a lock on its file as long as it lives; the file of one that is gone is added to the
file `ended`, so that there are never many.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

RECORD = 256
_NUMBER = struct.Struct("<d")
_LONGEST = RECORD - _NUMBER.size
_ENDED = "ended.json"

# How numbers of two processes under one name are put together.
Joined = Callable[[float, float], float]


class Store:
    """The numbers of this process, kept below `folder`. Safe between threads and across a fork."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._process = 0
        self._descriptor = -1
        self._places: dict[str, int] = {}
        self._numbers: dict[str, float] = {}

    def add(self, name: str, by: float) -> None:
        """Add to a number that only grows."""
        with self._lock:
            self._own()
            self._write(name, self._numbers.get(name, 0.0) + by)

    def put(self, name: str, value: float) -> None:
        """Replace a number."""
        with self._lock:
            self._own()
            self._write(name, value)

    def _own(self) -> None:
        """Have a file of this very process: a forked child begins one of its own."""
        if self._process == os.getpid():
            return
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._folder.mkdir(parents=True, exist_ok=True)
        while True:
            path = self._folder / f"{os.getpid()}-{os.urandom(4).hex()}"
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            # Before it was locked, somebody may have taken it for one that was left behind.
            if path.exists():
                break
            os.close(descriptor)
        self._descriptor, self._process = descriptor, os.getpid()
        self._places, self._numbers = {}, {}

    def _write(self, name: str, value: float) -> None:
        place = self._places.get(name)
        if place is None:
            place = len(self._places)
            written = name.encode()
            if len(written) > _LONGEST:
                raise ValueError(f"A name of {len(written)} bytes does not fit: {name[:60]}")
            os.pwrite(self._descriptor, _NUMBER.pack(value) + written.ljust(_LONGEST, b"\0"), place * RECORD)
            self._places[name] = place
        else:
            os.pwrite(self._descriptor, _NUMBER.pack(value), place * RECORD)
        self._numbers[name] = value


def total(folder: Path, joined: Callable[[str], Joined]) -> dict[str, float]:
    """Return the numbers of all processes there are and were; `joined` says by name how two become one."""
    if not folder.is_dir():
        return {}
    with _alone(folder), contextlib.ExitStack() as held:
        found, merged = _ended(folder)
        living: dict[str, float] = {}
        gone: list[Path] = []
        for path in sorted(folder.glob("[0-9]*-*")):
            if path.name in merged:
                path.unlink()
            elif _taken_over(path, held):
                _join(found, _records(path), joined)
                gone.append(path)
            else:
                _join(living, _records(path), joined)
        if gone:
            _keep(folder, found, [path.name for path in gone])
        for path in gone:
            path.unlink()
    _join(found, living.items(), joined)
    return found


def _join(
    into: dict[str, float], numbers: Iterable[tuple[str, float]], joined: Callable[[str], Joined]
) -> None:
    for name, value in numbers:
        into[name] = joined(name)(into[name], value) if name in into else value


def _records(path: Path) -> Iterator[tuple[str, float]]:
    data = path.read_bytes()
    for start in range(0, len(data) - RECORD + 1, RECORD):
        (value,) = _NUMBER.unpack_from(data, start)
        name = data[start + _NUMBER.size : start + RECORD].rstrip(b"\0").decode()
        if name:
            yield name, value


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _taken_over(path: Path, held: contextlib.ExitStack) -> bool:
    """Whether the process whose file it is has ended, however it did: the kernel gives its lock back.

    The lock is held until the file is gone: a process that is just beginning with it begins with another.
    """
    file = held.enter_context(path.open("rb"))
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _ended(folder: Path) -> tuple[dict[str, float], set[str]]:
    """Return what ended processes counted, and the files that this has in it."""
    try:
        kept = json.loads((folder / _ENDED).read_text())
    except (OSError, ValueError):
        return {}, set()
    return dict(kept["numbers"]), set(kept["files"])


def _keep(folder: Path, numbers: dict[str, float], files: list[str]) -> None:
    # Replaced as a whole, with the names of what it holds: nothing is counted twice, whenever this is killed.
    draft = folder / f"{_ENDED}.new"
    draft.write_text(json.dumps({"numbers": numbers, "files": files}))
    draft.replace(folder / _ENDED)
