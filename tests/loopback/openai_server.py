"""A server on 127.0.0.1 that speaks the OpenAI protocol and misbehaves as told.

It answers `POST /v1/chat/completions` (streamed and whole) and `POST /v1/embeddings`. Replies are queued
with `will(...)`; the last one repeats. Where requests come side by side, `will_choose(...)` looks at each.
Every request is kept in `requests`. After `will_count(...)` it reports how many tokens requests and replies
really had, and keeps its own books of them in `counted`.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSIONS = 384


@dataclass(frozen=True)
class Reply:
    """What happens to one request.

    `pieces` are streamed, `pause` seconds apart. Then the stream ends as `ending` says: `done` as the
    protocol has it, `silence` stays open without a word, `cut` without finish reason or [DONE], `reset`
    in the middle of a chunk, or a finish reason (`length`, `content_filter`, `tool_calls`).
    """

    pieces: tuple[str, ...] = ()
    pause: float = 0.0
    ending: str = "done"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    wait: float = 0.0
    usage: dict[str, Any] | None = field(
        default_factory=lambda: {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    )
    raw_events: tuple[str, ...] = ()
    vectors: Callable[[list[str]], list[dict[str, Any]]] | None = None


def says(*pieces: str, **options: Any) -> Reply:
    return Reply(pieces=pieces, **options)


def fails(status: int, *, echo: bool = True, **options: Any) -> Reply:
    """Answer with an error whose body repeats the caller's key and prompt, as some providers do."""
    return Reply(status=status, body=None if echo else b"{}", **options)


HANGS = Reply(wait=60.0)
HTML = Reply(body=b"<!doctype html><title>Sign in to the wifi</title>", headers={"Content-Type": "text/html"})
NOT_JSON = Reply(raw_events=("{this is not json",))
EMPTY = Reply(body=b"", headers={"Content-Type": "text/event-stream"})


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        return "\n".join(str(message["content"]) for message in self.body["messages"])


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Stay silent: clients hang up on purpose here."""


class OpenAIServer:
    """Start with `with OpenAIServer() as server`; `server.base_url` is the API base."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.counted: list[tuple[int, int]] = []
        self.stopping = threading.Event()
        self.hung_up = threading.Event()
        self._count: Callable[[str], int] | None = None
        self._replies: list[Reply] = []
        self._choose: Callable[[Request], Reply] | None = None
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def will(self, *replies: Reply) -> None:
        """Queue `replies` for the next requests, in order; the last one is given again and again."""
        with self._lock:
            self._replies, self._choose = list(replies), None

    def will_choose(self, choose: Callable[[Request], Reply]) -> None:
        """Let `choose` say what happens to each request by what it asks."""
        self._choose = choose

    def will_count(self, count: Callable[[str], int]) -> None:
        """Report the usage of every reply by `count`."""
        self._count = count

    def usage(self, request: Request, reply: Reply) -> dict[str, Any] | None:
        """Return what a reply says of its tokens."""
        if self._count is None or reply.usage is None:
            return reply.usage
        is_chat = "messages" in request.body
        asked = [request.prompt] if is_chat else request.body["input"]
        prompt = sum(map(self._count, asked))
        completion = self._count("".join(reply.pieces)) if is_chat else 0
        with self._lock:
            self.counted.append((prompt, completion))
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }

    def reply_to(self, request: Request) -> Reply:
        return self.next_reply() if self._choose is None else self._choose(request)

    def next_reply(self) -> Reply:
        with self._lock:
            return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    def __enter__(self) -> OpenAIServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


def _handler(server: OpenAIServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = Request(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            server.requests.append(request)
            reply = server.reply_to(request)
            server.stopping.wait(reply.wait)
            try:
                _answer(self, request, reply, server)
            except OSError:
                # A client that has hung up by now is part of the test.
                server.hung_up.set()

        def log_message(self, *_: object) -> None:
            """Stay silent: the tests read `requests`."""

    return Handler


def _answer(handler: BaseHTTPRequestHandler, request: Request, reply: Reply, server: OpenAIServer) -> None:
    if reply.status != 200 or reply.body is not None:
        body = _error_body(request) if reply.body is None else reply.body
        _send(handler, reply.status, reply.headers, body)
    elif request.path.endswith("/embeddings"):
        _send(handler, 200, reply.headers, json.dumps(_embeddings(request, reply, server)).encode())
    elif request.body.get("stream"):
        _stream(handler, request, reply, server)
    else:
        _send(handler, 200, reply.headers, json.dumps(_completion(request, reply, server)).encode())


def _send(handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: bytes) -> None:
    handler.send_response(status)
    for name, value in {"Content-Type": "application/json", **headers}.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def _error_body(request: Request) -> bytes:
    said = f"Incorrect key {request.headers.get('authorization', '')}: {request.body}"
    return json.dumps({"error": {"message": said, "type": "error", "code": "error"}}).encode()


def _stream(handler: BaseHTTPRequestHandler, request: Request, reply: Reply, server: OpenAIServer) -> None:
    handler.send_response(200)
    for name, value in {"Content-Type": "text/event-stream", **reply.headers}.items():
        handler.send_header(name, value)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    for event in _events(request, reply, server):
        _chunk(handler, f"data: {event}\n\n".encode())
        time.sleep(reply.pause)
    if reply.ending == "silence":
        server.stopping.wait(60)
    if reply.ending == "reset":
        handler.wfile.write(b"ffff\r\ndata: {")
        handler.wfile.flush()
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()
        handler.close_connection = True
        return
    if reply.ending != "cut":
        _chunk(handler, b"data: [DONE]\n\n")
    handler.wfile.write(b"0\r\n\r\n")


def _chunk(handler: BaseHTTPRequestHandler, data: bytes) -> None:
    handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    handler.wfile.flush()


def _events(request: Request, reply: Reply, server: OpenAIServer) -> Iterator[str]:
    if reply.raw_events:
        yield from reply.raw_events
        return
    for piece in reply.pieces:
        yield _event(request, {"content": piece}, None)
    if reply.ending in {"silence", "cut", "reset"}:
        return
    yield _event(request, {}, "stop" if reply.ending == "done" else reply.ending)
    usage = server.usage(request, reply)
    if usage is not None:
        yield json.dumps({**_frame(request), "choices": [], "usage": usage})


def _frame(request: Request) -> dict[str, Any]:
    model = request.body["model"]
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}


def _event(request: Request, delta: dict[str, Any], finish_reason: str | None) -> str:
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish_reason}
    return json.dumps({**_frame(request), "choices": [choice]})


def _completion(request: Request, reply: Reply, server: OpenAIServer) -> dict[str, Any]:
    message = {"role": "assistant", "content": "".join(reply.pieces)}
    reason = "stop" if reply.ending == "done" else reply.ending
    return {
        **_frame(request),
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": server.usage(request, reply),
    }


def _embeddings(request: Request, reply: Reply, server: OpenAIServer) -> dict[str, Any]:
    data = (reply.vectors or _vectors)(request.body["input"])
    usage = server.usage(request, reply) or {}
    return {"object": "list", "model": request.body["model"], "data": data, "usage": usage}


def _vectors(texts: list[str]) -> list[dict[str, Any]]:
    """Return unit vectors that depend on the text, so that equal texts are equal and others are not."""
    rows = []
    for index, text in enumerate(texts):
        place = sum(text.encode()) % DIMENSIONS
        vector = [1.0 if position == place else 0.0 for position in range(DIMENSIONS)]
        rows.append({"object": "embedding", "index": index, "embedding": vector})
    return rows
