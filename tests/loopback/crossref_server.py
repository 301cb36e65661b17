"""A server on 127.0.0.1 that answers `GET /works/{doi}` as Crossref does, and misbehaves as told.

Records stand in `works`, by DOI in lower case. `faults` queues what happens to the next requests for a DOI;
after them the record is served. Any other path is answered by `pages`.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

UNHURRIED = {"X-Rate-Limit-Limit": "1000", "X-Rate-Limit-Interval": "1s"}


@dataclass(frozen=True)
class Fault:
    """What happens instead of an answer.

    `wait` seconds pass first. `body` None is the record itself; of the body only the first `cut` bytes are
    sent before the connection ends, and a `drip` sends a byte at a time, that many seconds apart.
    `wait_until` adds a `Retry-After` with the date so many seconds ahead.
    """

    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    wait: float = 0.0
    cut: int | None = None
    drip: float = 0.0
    wait_until: float | None = None


def asked_to_wait(seconds: int, *, as_date: bool = False, status: int = 429) -> Fault:
    """Refuse with `Retry-After`, in seconds or as the date they lead to from when it is sent."""
    headers = {"Content-Type": "text/plain"} | ({} if as_date else {"Retry-After": str(seconds)})
    return Fault(status, b"slow down", headers, wait_until=seconds if as_date else None)


BROKEN = Fault(500, b"oops", {"Content-Type": "text/plain"})
REJECTED = Fault(400, b'{"status":"failed","message-type":"validation-failure","message":[]}')
NOT_FOUND = Fault(404, b"Resource not found.", {"Content-Type": "text/plain"})
TRUNCATED = Fault(cut=40)
HALF_A_DOCUMENT = Fault(body=b'{"status":"ok","message-type":"work","message":{"DOI":"10.')
NOT_JSON = Fault(body=b"\xff\xfe{")
WRONG_SHAPE = Fault(body=b'{"status":"ok","message-type":"work","message":["a"]}')
HTML = Fault(body=b"<!doctype html><title>Sign in</title>", headers={"Content-Type": "text/html"})
DEEP = Fault(body=b'{"message":' + b"[" * 100_000)


@dataclass(frozen=True)
class Seen:
    path: str
    doi: str
    headers: dict[str, str]
    at: float


def record(doi: str, **fields: Any) -> dict[str, Any]:
    """Return the least a record says, with `fields` (`updated_by` for `updated-by`)."""
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return {"DOI": doi, "type": "journal-article", "title": [f"Work {doi}"], **named}


def update(kind: str, doi: str, day: tuple[int, ...], source: str = "publisher") -> dict[str, Any]:
    """Return an element of `update-to` or `updated-by`."""
    label = kind.replace("_", " ").capitalize()
    return {
        "DOI": doi,
        "type": kind,
        "label": label,
        "source": source,
        "updated": {"date-parts": [list(day)]},
    }


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: object) -> None:
        """Stay silent: clients hang up on purpose here."""


class CrossrefServer:
    """Start with `with CrossrefServer() as server`; `server.base_url` is where `/works` lies."""

    def __init__(self) -> None:
        self.works: dict[str, dict[str, Any]] = {}
        self.faults: dict[str, deque[Fault]] = defaultdict(deque)
        self.pages: dict[str, Fault] = {}
        self.seen: list[Seen] = []
        # The works whose record was sent whole, and when it was asked to wait for how long.
        self.served: list[str] = []
        self.refused: list[tuple[float, float]] = []
        self.pace = UNHURRIED
        self.stopping = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def base_url(self) -> str:
        return f"http://{self.host}"

    def add(self, doi: str, **fields: Any) -> None:
        self.works[doi.lower()] = record(doi, **fields)

    def will(self, doi: str, *faults: Fault) -> None:
        """Let the next requests for `doi` meet `faults`, in order."""
        self.faults[doi.lower()].extend(faults)

    def asked_for(self, doi: str) -> list[Seen]:
        return [seen for seen in self.seen if seen.doi == doi.lower()]

    def __enter__(self) -> CrossrefServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


def _handler(server: CrossrefServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            doi = unquote(path.removeprefix("/works/")).lower() if path.startswith("/works/") else ""
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.seen.append(Seen(self.path, doi, headers, time.monotonic()))
            # A client that has hung up by now is part of the test.
            with contextlib.suppress(OSError):
                _answer(self, server, path, doi)

        def log_message(self, *_: object) -> None:
            """Stay silent: the tests read `seen`."""

    return Handler


def _answer(handler: BaseHTTPRequestHandler, server: CrossrefServer, path: str, doi: str) -> None:
    queued = server.faults.get(doi)
    fault = server.pages.get(path) or (queued.popleft() if queued else Fault())
    server.stopping.wait(fault.wait)
    body = fault.body
    if body is None:
        work = server.works.get(doi)
        if work is None and not server.pages.get(path):
            fault = NOT_FOUND
        body = fault.body or json.dumps({"status": "ok", "message-type": "work", "message": work}).encode()
    handler.send_response(fault.status)
    headers = {"Content-Type": "application/json", **server.pace, **fault.headers}
    if fault.wait_until is not None:
        day = datetime.now(UTC) + timedelta(seconds=fault.wait_until)
        headers["Retry-After"] = format_datetime(day, usegmt=True)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    if "Retry-After" in fault.headers:
        server.refused.append((time.monotonic(), float(fault.headers["Retry-After"])))
    handler.end_headers()
    _write(handler, server, body, fault)
    if fault in (Fault(), Fault(wait=fault.wait)):
        server.served.append(doi)


def _write(handler: BaseHTTPRequestHandler, server: CrossrefServer, body: bytes, fault: Fault) -> None:
    if fault.drip:
        for place in range(len(body)):
            handler.wfile.write(body[place : place + 1])
            if server.stopping.wait(fault.drip):
                return
        return
    handler.wfile.write(body if fault.cut is None else body[: fault.cut])
    handler.wfile.flush()
    if fault.cut is not None:
        handler.close_connection = True
