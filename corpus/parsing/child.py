"""The parsing process: reads requests on standard input, answers each with one framed reply.

A request is a job, `parse`, `draw` or `look`; a reply is a document or its hidden text as JSON, a picture, or
a named failure.

It never imports Django, holds no keys and, once `confine` has run, can neither write files, start
processes (save to run models) nor (where the kernel allows it) reach a network.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from corpus.parsing import hidden_text, parsers, wire
from corpus.parsing.blocks import ParseFailure
from corpus.parsing.limits import ParseLimits

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_RECURSION_LIMIT = 3_000


def main() -> None:
    """Load what the arguments name, media types or `draw`, then serve requests until input closes."""
    for name in sys.argv[1:]:
        if name == wire.DRAW:
            _load_renderer()
        else:
            parsers.load(name)
    confine()
    replies = _take_over_standard_output()
    for line in sys.stdin.buffer:
        kind, payload = _answer(json.loads(line))
        replies.write(kind + len(payload).to_bytes(8, "big"))
        replies.write(payload)
        replies.flush()


def confine() -> None:
    """Give up what no parser needs: core dumps, files to write, further processes, the network."""
    sys.setrecursionlimit(_RECURSION_LIMIT)
    for what in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE):
        resource.setrlimit(what, (0, 0))
    # Models are run by threads, and the kernel counts those as processes.
    if "DOCLING_ARTIFACTS_PATH" not in os.environ:
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    libc = ctypes.CDLL(None)
    if hasattr(libc, "unshare") and libc.unshare(_CLONE_NEWNET) != 0:
        libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)


def _take_over_standard_output() -> BinaryIO:
    """Return a private handle for replies; whatever a library prints goes nowhere."""
    replies = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.close(null)
    return replies


def _answer(request: dict[str, Any]) -> tuple[bytes, bytes]:
    limits = ParseLimits(**request["limits"])
    _apply_budgets(limits)
    try:
        return _done(request, limits)
    except ParseFailure as failure:
        return wire.FAILURE, json.dumps([failure.code, str(failure)]).encode()
    finally:
        signal.alarm(0)


def _done(request: dict[str, Any], limits: ParseLimits) -> tuple[bytes, bytes]:
    path = Path(request["path"])
    try:
        if request["job"] == wire.DRAW:
            draw = _load_renderer()
            kind, payload = wire.PICTURE, draw(path, page=request["page"], width=request["width"])
        else:
            kind, payload = _read(path, request, limits)
    except ParseFailure:
        raise
    except MemoryError as error:
        raise ParseFailure("memory_limit", "Reading the file needs more memory than allowed.") from error
    except RecursionError as error:
        raise ParseFailure("nested_too_deep", "The file is nested too deeply to be read.") from error
    except Exception as error:
        raise ParseFailure("damaged", f"The file cannot be read ({type(error).__name__}).") from error
    if len(payload) > limits.max_result_bytes:
        raise ParseFailure("too_large", "The file holds more than one document or picture may have.")
    return kind, payload


def _read(path: Path, request: dict[str, Any], limits: ParseLimits) -> tuple[bytes, bytes]:
    media_type = request["media_type"]
    if request["job"] == wire.LOOK:
        return wire.HIDDEN, wire.encode_hidden(hidden_text.find(path, media_type))
    parse = parsers.load(media_type, parser=request["parser"])
    document = parse(path, limits)
    return wire.DOCUMENT, wire.encode(replace(document, hidden=hidden_text.find(path, media_type)))


def _load_renderer() -> Callable[..., bytes]:
    from corpus.parsing import page_render

    return page_render.render


def _apply_budgets(limits: ParseLimits) -> None:
    """Bound processor time and memory of the next document; the alarm backs up the parent's own clock."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + limits.cpu_seconds + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, hard))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, resource.getrlimit(resource.RLIMIT_AS)[1]))
    signal.alarm(int(limits.wall_seconds) + 5)


if __name__ == "__main__":
    main()
