"""A proxy before a Redis server that cuts connections when told, and loses every so many messages."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import threading

# A message on its way into a queue. The key is changed to one that nobody listens to: the sender is told that
# all went well, as when a broker dies after it said so.
_PUSH = re.compile(rb"(LPUSH\r\n\$\d+\r\n)([a-z]+)(\r\n)")


class FaultyBroker:
    """Start with `with FaultyBroker(port) as broker`; `broker.port` is where clients connect to."""

    def __init__(self, upstream: int, *, loses: float, seed: int) -> None:
        self.lost = self.passed = self.cuts = 0
        self.port = 0
        self._upstream, self._loses = upstream, loses
        self._choose = random.Random(seed)  # noqa: S311 - the same ones every time
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._is_up = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> FaultyBroker:
        self._thread.start()
        assert self._is_up.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def cut(self) -> None:
        """Reset every connection there is."""
        done = threading.Event()
        self._loop.call_soon_threadsafe(self._cut, done)
        assert done.wait(10)

    def _cut(self, done: threading.Event) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self.cuts += bool(self._writers)
        self._writers.clear()
        done.set()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._is_up.set()
        self._loop.run_forever()
        server.close()
        self._cut(threading.Event())
        pending = asyncio.all_tasks(self._loop)
        for task in pending:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._upstream)
        except OSError:
            writer.transport.abort()
            return
        self._writers.add(back)
        await asyncio.gather(self._pass(reader, back, pushes=True), self._pass(there, writer, pushes=False))

    async def _pass(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, pushes: bool
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(1 << 16):
                target.write(_PUSH.sub(self._maybe_lost, data) if pushes else data)
                await target.drain()
        target.transport.abort()
        self._writers.discard(target)

    def _maybe_lost(self, push: re.Match[bytes]) -> bytes:
        if self._choose.random() >= self._loses:
            self.passed += 1
            return push[0]
        self.lost += 1
        return push[1] + push[2][:-1] + b"~" + push[3]
