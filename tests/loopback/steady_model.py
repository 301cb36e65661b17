"""A model on 127.0.0.1 that writes at a steady pace to many at once, for what has to be timed.

Arguments: port, tokens a second, tokens an answer. It is a process of its own and does next to nothing, so
that what is measured is the site. Each answer begins with the number its question names, as in "asker 7",
so that answers cannot be taken for one another.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
import time
from collections.abc import Iterator

HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
    b"Connection: close\r\n\r\n"
)
WORDS = ("The ", "stover ", "bales ", "lost ", "dry ", "matter ", "in ", "the ", "open ", "[1]. ")


def tokens(asker: str, count: int) -> Iterator[str]:
    """Yield the `count` tokens of the answer to one asker."""
    yield f"Asker {asker} "
    yield from (WORDS[number % len(WORDS)] for number in range(count - 1))


def _chunk(data: str) -> bytes:
    event = f"data: {data}\n\n".encode()
    return f"{len(event):x}\r\n".encode() + event + b"\r\n"


def _event(delta: dict[str, str], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": reason}
    frame = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "steady"}
    return _chunk(json.dumps({**frame, "choices": [choice]}))


async def _asked(reader: asyncio.StreamReader) -> str:
    """Read one request and return who asks."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    body = await reader.readexactly(int(length[1]) if length else 0)
    said = re.findall(rb"asker (\d+)", body)
    return said[-1].decode() if said else "0"


async def _answer(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, pace: float, count: int
) -> None:
    # A client that has hung up by now is part of the test.
    with contextlib.suppress(OSError, asyncio.IncompleteReadError):
        asker = await _asked(reader)
        writer.write(HEAD)
        started = time.monotonic()
        for number, token in enumerate(tokens(asker, count)):
            writer.write(_event({"content": token}))
            await writer.drain()
            await asyncio.sleep(max(0.0, started + (number + 1) / pace - time.monotonic()))
        writer.write(_event({}, "stop") + _chunk("[DONE]") + b"0\r\n\r\n")
        await writer.drain()
    writer.close()


async def serve(port: int, pace: float, count: int) -> None:
    """Answer until the process is ended."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _answer(reader, writer, pace=pace, count=count)

    server = await asyncio.start_server(answer, "127.0.0.1", port, backlog=256)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])))
