"""A server on 127.0.0.1 that takes messages by POST, keeps them, and answers as told.

Answers are queued with `will(...)`; after them every message is taken with 204.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What happens to one message; `wait` seconds pass first."""

    status: int = 204
    headers: dict[str, str] = field(default_factory=dict)
    wait: float = 0.0


@dataclass(frozen=True)
class Taken:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def said(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.body)
        return message


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Stay silent: senders hang up on purpose here."""


class WebhookServer:
    """Start with `with WebhookServer() as server`; messages go to `server.url`."""

    def __init__(self) -> None:
        self.taken: list[Taken] = []
        self.answers: deque[Answer] = deque()
        self.stopping = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.host}/hook?token=receivers-own-secret"

    def will(self, *answers: Answer) -> None:
        """Let the next messages meet `answers`, in order."""
        self.answers.extend(answers)

    def __enter__(self) -> WebhookServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


def _handler(server: WebhookServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.taken.append(Taken(self.path, headers, body))
            answer = server.answers.popleft() if server.answers else Answer()
            server.stopping.wait(answer.wait)
            with contextlib.suppress(OSError):
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

        def do_GET(self) -> None:
            server.taken.append(Taken(self.path, {"method": "get"}, b""))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Stay silent: the tests read `taken`."""

    return Handler
