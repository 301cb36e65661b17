"""Many who ask at once, and somebody who reads other pages meanwhile: plain sockets, which cost little."""

from __future__ import annotations

import asyncio
import contextlib
import html
import itertools
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

_SECRET = "a" * 32
_DRAFT = re.compile(r'<hx-partial hx-target="#draft" hx-swap="beforeend">(.*?)</hx-partial>', re.DOTALL)
_ANSWER = re.compile(r"/answers/([0-9a-f-]{36})/")
_PAUSE = 0.1


@dataclass(slots=True)
class Reply:
    """What came back, and when: seconds to the first word of an answer, and to the end."""

    status: int
    body: bytes
    seconds: float
    first_word: float | None = None
    head: bytes = b""

    @property
    def text(self) -> str:
        """The answer as it was streamed, piece by piece."""
        events = self.body.decode().split("\n\n")
        pages = ["\n".join(line[6:] for line in event.split("\n")) for event in events]
        return "".join(html.unescape(piece) for page in pages for piece in _DRAFT.findall(page))

    @property
    def answer_id(self) -> str:
        """The id of the answer that the stream is of; empty when there is none."""
        found = _ANSWER.search(self.body.decode())
        return found[1] if found else ""


@dataclass(slots=True)
class Told:
    """The streams of all askers, and what other pages took meanwhile, by path."""

    streams: list[Reply]
    pages: dict[str, list[Reply]] = field(default_factory=dict)


async def crowd(*, port: int, sessions: Sequence[str], question: str, paths: Sequence[str]) -> Told:
    """Let all sessions ask at the same moment; read `paths` in turn until all have their answer."""
    told = Told([])
    asked = [
        asyncio.create_task(_asked(port, session, f"{question} I am asker {number}."))
        for number, session in enumerate(sessions)
    ]
    reading = asyncio.create_task(_reading(port, sessions[0], paths, told))
    told.streams = list(await asyncio.gather(*asked))
    reading.cancel()
    await asyncio.wait([reading])
    return told


async def _reading(port: int, session: str, paths: Sequence[str], told: Told) -> None:
    for path in itertools.cycle(paths):
        reply = await fetch(port, "GET", path, session)
        told.pages.setdefault(path, []).append(reply)
        await asyncio.sleep(_PAUSE)


async def _asked(port: int, session: str, question: str) -> Reply:
    return await fetch(port, "POST", "/ask/stream/", session, urlencode({"question": question}))


async def fetch(port: int, method: str, path: str, session: str, form: str = "") -> Reply:
    """Make one request of a browser on a connection of its own and return the whole reply."""
    headers = {
        "Cookie": f"sessionid={session}; csrftoken={_SECRET}",
        "X-CSRFToken": _SECRET,
        "Content-Type": "application/x-www-form-urlencoded",
    }
    return await exchange(port, method, path, headers, form)


async def exchange(port: int, method: str, path: str, headers: Mapping[str, str], body: str) -> Reply:
    """Make one request on a connection of its own and return the whole reply."""
    started = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    parts, first_word = [], None
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    try:
        writer.write(
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{lines}"
            f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        while part := await reader.read(65_536):
            parts.append(part)
            if first_word is None and b"#draft" in part:
                first_word = time.monotonic() - started
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
    head, _, body = b"".join(parts).partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" in head.lower():
        body = _without_chunks(body)
    return Reply(int(head[9:12] or 0), body, time.monotonic() - started, first_word, head)


def _without_chunks(body: bytes) -> bytes:
    parts, position = [], 0
    while (end := body.find(b"\r\n", position)) >= 0 and (size := int(body[position:end], 16)):
        parts.append(body[end + 2 : end + 2 + size])
        position = end + 2 + size + 2
    return b"".join(parts)
