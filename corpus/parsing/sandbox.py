"""Run a parser, or draw a page, in a process that can be killed: no file can take the worker down.

A PDF gets a fresh process each: its reader is native code over the most hostile format. The text formats
share a warm one, and those that Docling reads another, since that takes seconds to load; each is replaced
after any failure and after `_REUSES` documents.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path

import corpus
from corpus.parsing import parsers, wire
from corpus.parsing.blocks import ParsedDocument, ParseFailure
from corpus.parsing.hidden import Hidden
from corpus.parsing.limits import ParseLimits
from corpus.parsing.parsers import Reader

# The one failure that may not be the file's: the machine was short of memory, or somebody ended the reader.
READER_KILLED = "reader_killed"
_REUSES = 200
_WARM_CHILDREN = 2
_CHUNK = 1 << 16
_CRASHES = frozenset({signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGSEGV, signal.SIGTRAP})


def run(
    path: Path, *, media_type: str, limits: ParseLimits, parser: str = "", models: str = ""
) -> ParsedDocument:
    """Return what the parser of `media_type` finds in `path`; ParseFailure names whatever went wrong.

    `parser` names another than the usual one, `models` the folder of the models it may need.
    """
    reader = parsers.reader(media_type, parser=parser, models=models)
    limits = replace(limits, memory_bytes=limits.memory_bytes + reader.memory_bytes)
    child = _pool.take(reader.pool) if reader.pool else _fresh(media_type, reader, models)
    try:
        document = child.parse(path, media_type=media_type, limits=limits, parser=parser)
    except BaseException:
        child.kill()
        raise
    if reader.pool:
        _pool.give_back(child, reader.pool)
    else:
        child.kill()
    return document


def _fresh(media_type: str, reader: Reader, models: str) -> Child:
    return Child(models=models) if reader.models else Child(preload=(media_type,))


def draw(path: Path, *, page: int, width: int, limits: ParseLimits) -> bytes:
    """Return a page of a PDF as a WebP picture; ParseFailure names whatever went wrong."""
    child = Child(preload=(wire.DRAW,))
    try:
        return child.draw(path, page=page, width=width, limits=limits)
    finally:
        child.kill()


def hidden(path: Path, *, media_type: str, limits: ParseLimits) -> tuple[Hidden, ...]:
    """Return the hidden text of a file without parsing it; ParseFailure names whatever went wrong."""
    child = Child()
    try:
        return child.look(path, media_type=media_type, limits=limits)
    finally:
        child.kill()


class Child:
    """One parsing process and the pipes to it."""

    def __init__(self, *, preload: tuple[str, ...] = (), models: str = "") -> None:
        self.served = 0
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module, no shell
            [sys.executable, "-S", "-m", "corpus.parsing.child", *preload],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment() | ({"DOCLING_ARTIFACTS_PATH": models} if models else {}),
            cwd="/",
            start_new_session=True,
        )

    def parse(self, path: Path, *, media_type: str, limits: ParseLimits, parser: str = "") -> ParsedDocument:
        """Have a document parsed, in no more than `limits.wall_seconds`."""
        request = {"path": str(path), "media_type": media_type, "parser": parser}
        payload = self._ask({"job": wire.PARSE, **request}, limits, wire.DOCUMENT)
        try:
            return wire.decode(payload)
        except ValueError as error:
            raise _unreadable() from error

    def draw(self, path: Path, *, page: int, width: int, limits: ParseLimits) -> bytes:
        """Have a page drawn, in no more than `limits.wall_seconds`."""
        request = {"job": wire.DRAW, "path": str(path), "page": page, "width": width}
        return self._ask(request, limits, wire.PICTURE)

    def look(self, path: Path, *, media_type: str, limits: ParseLimits) -> tuple[Hidden, ...]:
        """Have a file looked into for hidden text, in no more than `limits.wall_seconds`."""
        request: dict[str, object] = {"job": wire.LOOK, "path": str(path), "media_type": media_type}
        try:
            return wire.decode_hidden(self._ask(request, limits, wire.HIDDEN))
        except ValueError as error:
            raise _unreadable() from error

    def _ask(self, request: dict[str, object], limits: ParseLimits, expected: bytes) -> bytes:
        """Send one request and return the payload of its reply, which is of the kind `expected`."""
        self.served += 1
        deadline = time.monotonic() + limits.wall_seconds
        try:
            self._send(json.dumps(request | {"limits": asdict(limits)}).encode() + b"\n")
            header = self._receive(9, deadline)
            size = int.from_bytes(header[1:], "big")
            if size > limits.max_result_bytes:
                raise ParseFailure("too_large", "The file holds more than one document or picture may have.")
            payload = self._receive(size, deadline)
        except (EOFError, BrokenPipeError) as error:
            raise self._explain_death(limits) from error
        if header[:1] == expected:
            return payload
        raise _failure(header[:1], payload)

    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End the process and everything it may have started, and collect it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self._process.returncode is None:
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _send(self, request: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101 - a pipe by construction
        self._process.stdin.write(request)
        self._process.stdin.flush()

    def _receive(self, count: int, deadline: float) -> bytes:
        assert self._process.stdout is not None  # noqa: S101 - a pipe by construction
        descriptor = self._process.stdout.fileno()
        poll = select.poll()
        poll.register(descriptor, select.POLLIN | select.POLLHUP)
        received = bytearray()
        while len(received) < count:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not poll.poll(remaining * 1000):
                raise ParseFailure("time_limit", "Reading the file took longer than allowed.")
            chunk = os.read(descriptor, min(_CHUNK, count - len(received)))
            if not chunk:
                raise EOFError
            received += chunk
        return bytes(received)

    def _explain_death(self, limits: ParseLimits) -> ParseFailure:
        """Name the reason for which the process ended before it had answered."""
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        ended_by = -self._process.returncode
        if ended_by in (signal.SIGXCPU, signal.SIGALRM):
            return ParseFailure("time_limit", "Reading the file took longer than allowed.")
        if ended_by == signal.SIGKILL:
            return ParseFailure(READER_KILLED, "The process that reads the file was killed from outside.")
        is_full = usage.ru_maxrss * 1024 > limits.memory_bytes * 0.7
        if ended_by in _CRASHES and is_full:
            return ParseFailure("memory_limit", "Reading the file needs more memory than allowed.")
        return ParseFailure("damaged", "The file makes its reader crash.")


class _Pool:
    """Warm children of this process by what they have loaded, apart from those a parent had before a fork."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[str, list[Child]] = {}
        self._owner = os.getpid()

    def take(self, name: str) -> Child:
        with self._lock:
            if self._owner != os.getpid():
                self._idle, self._owner = {}, os.getpid()
            idle = self._idle.get(name, [])
            while idle:
                child = idle.pop()
                if child.is_alive():
                    return child
                child.kill()
        return Child()

    def give_back(self, child: Child, name: str) -> None:
        with self._lock:
            idle = self._idle.setdefault(name, [])
            if child.served < _REUSES and len(idle) < _WARM_CHILDREN:
                idle.append(child)
                return
        child.kill()

    def close(self) -> None:
        with self._lock:
            idle = list(chain(*self._idle.values())) if self._owner == os.getpid() else []
            self._idle = {}
        for child in idle:
            child.kill()


_pool = _Pool()
atexit.register(_pool.close)


def close_idle() -> None:
    """End the warm children; the next document starts a new one."""
    _pool.close()


def _environment() -> dict[str, str]:
    """What a parser may know: where its modules are, and nothing of ours."""
    root = str(Path(corpus.__path__[0]).resolve().parent)
    search_path = [root, *(entry for entry in sys.path if entry and entry != root)]
    return {
        "PYTHONPATH": os.pathsep.join(search_path),
        "PYTHONSAFEPATH": "1",
        "PYTHONUTF8": "1",
        "LANG": "C.UTF-8",
        "OPENBLAS_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }


def _failure(kind: bytes, payload: bytes) -> ParseFailure:
    """Return the failure a reply tells of; a reply that is none of ours is one too."""
    try:
        code, message = json.loads(payload)
    except (ValueError, TypeError):
        return _unreadable()
    return ParseFailure(str(code)[:40], str(message)[:500]) if kind == wire.FAILURE else _unreadable()


def _unreadable() -> ParseFailure:
    return ParseFailure("damaged", "The parsing process sent an unreadable reply.")
