"""A server on 127.0.0.1 that answers each request with the next line of a script, whatever is asked."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Line:
    """One answer. `pieces` are sent one by one instead of a body; `wait` seconds pass first.

    With `cut` the connection ends before the body does.
    """

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    pieces: tuple[bytes, ...] = ()
    wait: float = 0.0
    cut: bool = False


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Stay silent: clients hang up on purpose here."""


class ScriptedServer:
    """Start with `with ScriptedServer() as server`; the last line of the script is given again and again."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.script: deque[Line] = deque()
        self.stopping = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def will(self, *lines: Line) -> None:
        self.asked.clear()
        self.script = deque(lines)

    def next_line(self) -> Line:
        return self.script.popleft() if len(self.script) > 1 else self.script[0]

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


def _handler(server: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.asked.append(Asked(self.command, self.path, headers, body))
            line = server.next_line()
            server.stopping.wait(line.wait)
            with contextlib.suppress(OSError):
                self._say(line)

        def do_POST(self) -> None:
            self.do_GET()

        def _say(self, line: Line) -> None:
            body = b"".join(line.pieces) or line.body
            self.send_response(line.status)
            for name, value in {"Content-Type": "application/json", **line.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body) + line.cut))
            self.end_headers()
            for piece in line.pieces or (line.body,):
                self.wfile.write(piece)
                self.wfile.flush()
            if line.cut:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Stay silent: the tests read `asked`."""

    return Handler
