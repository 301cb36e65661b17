"""From a generator that blocks to a response that streams and notices when nobody listens any more."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextvars import copy_context

from django.db import connections

_END = object()
_NAME = "answer-stream"


async def in_a_thread(start: Callable[[], Iterator[str]]) -> AsyncGenerator[str, None]:
    """Run the generator `start()` makes in a thread of its own and yield what it yields.

    The whole generator runs in one thread, since a database connection belongs to a thread. When the
    consumer goes away the generator is closed at its next step, so that it can store how far it came;
    its connections are returned in any case.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[object] = asyncio.Queue()
    abandoned = threading.Event()

    def hand_over(item: object) -> None:
        with contextlib.suppress(RuntimeError):  # The loop is gone: the server is stopping.
            loop.call_soon_threadsafe(queue.put_nowait, item)

    def work() -> None:
        pieces = start()
        try:
            for piece in pieces:
                if abandoned.is_set():
                    break
                hand_over(piece)
        except Exception as error:  # noqa: BLE001 the thread's border: it is raised again in the loop
            hand_over(error)
        finally:
            with contextlib.suppress(Exception):
                _close(pieces)
            connections.close_all()
            hand_over(_END)

    threading.Thread(target=copy_context().run, args=(work,), name=_NAME, daemon=True).start()
    try:
        while (item := await queue.get()) is not _END:
            if isinstance(item, Exception):
                raise item
            yield str(item)
    finally:
        abandoned.set()


def wait_for_endings(seconds: float) -> None:
    """Let generators that nobody listens to any more store how far they came, before a process ends."""
    deadline = time.monotonic() + seconds
    for thread in threading.enumerate():
        if thread.name == _NAME:
            thread.join(max(deadline - time.monotonic(), 0))


def _close(pieces: Iterator[str]) -> None:
    close = getattr(pieces, "close", None)
    if close is not None:
        close()
