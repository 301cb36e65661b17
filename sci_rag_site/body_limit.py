"""How large a request may be at all. Django spools every body to disk before any of its code runs."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from django.conf import settings

from corpus.api.hygiene import MOST_BYTES
from corpus.upload_handlers import MOST_FILES

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

# Pages that take many files in one request; everything else takes one at most.
MANY_FILES = ("/documents/upload/",)
# Of the API one address takes files, as many as those pages; the others take JSON.
API, API_FILES = "/api/", "/api/v1/ingest"
_ROOM_FOR_FIELDS = 5_000_000


class BodyLimit:
    """Turns a body away that is larger than its address allows: by its announced length, or on the way."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request whose body keeps to the limit."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        limit = limit_of(scope["path"])
        if announced(scope) > limit:
            await _refuse(send, limit, scope["path"])
            return
        arrived = 0

        async def counted() -> Message:
            nonlocal arrived
            message = await receive()
            arrived += len(message.get("body", b""))
            return message if arrived <= limit else {"type": "http.disconnect"}

        await self._application(scope, counted, send)


def limit_of(path: str) -> int:
    """Return how many bytes a request to `path` may send."""
    if path.startswith(API) and path != API_FILES:
        return MOST_BYTES
    files = MOST_FILES if path.startswith((*MANY_FILES, API_FILES)) else 1
    size: int = files * settings.SCI_RAG_MAX_UPLOAD_MB * 1_000_000
    return size + _ROOM_FOR_FIELDS


def announced(scope: Scope) -> int:
    """Return how many bytes a request says it has, 0 where it does not say."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value[:20])
    return 0


async def _refuse(send: Send, limit: int, path: str) -> None:
    words = f"The request is larger than {limit // 1_000_000:,} MB, the limit of this site."
    if path.startswith(API):
        # Django has its models only by now.
        from corpus.api.problems import MEDIA_TYPE, Code, Problem, response

        problem = response(Problem(Code.REQUEST_TOO_LARGE, words))
        await refuse(send, problem.content, kind=MEDIA_TYPE, status=problem.status_code)
    else:
        await refuse(send, f"{words}\n".encode(), kind="text/plain; charset=utf-8", status=413)


async def refuse(
    send: Send, body: bytes, *, kind: str, status: int, more: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    """Answer for the application, with the headers that every response has and with `more`."""
    headers = [
        *more,
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"private, no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-request-id", uuid.uuid4().hex.encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
