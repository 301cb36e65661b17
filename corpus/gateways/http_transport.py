"""The connection below the outbound client: looked up once, checked, and bounded in time.

The name is resolved here and nowhere else, and the connection goes to the address that was checked. A name
that answers differently the second time therefore gains nothing: nobody asks a second time.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import httpcore
import httpx

from corpus.gateways.http_addresses import is_public

CONNECT_SECONDS = 10.0
READ_SECONDS = 15.0
_IDLE_SECONDS = 20.0

Resolve = Callable[[str, int], list[str]]


class ForbiddenAddress(Exception):
    """A name led to an address that may not be connected to."""


def resolve(host: str, port: int) -> list[str]:
    """Return every address the system knows for `host`."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Bounds(threading.local):
    """What holds for the request this thread makes: until when, and whether private addresses are fine."""

    until: float = 0.0
    may_be_private: bool = False

    def left(self) -> float:
        """Return the seconds that are left, never none."""
        return max(self.until - time.monotonic(), 0.001)

    def require_time(self) -> None:
        """Raise the error of a read that took too long when the time is over."""
        if time.monotonic() >= self.until:
            raise httpcore.ReadTimeout


class CheckedTransport(httpx.BaseTransport):
    """Sends requests over connections to checked addresses. Raises the exceptions of httpcore."""

    def __init__(self, bounds: Bounds, look_up: Resolve) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=ssl.create_default_context(),
            max_connections=8,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=_CheckedBackend(bounds, look_up),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request; the response's body is still to be read."""
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        answer = self._pool.handle_request(
            httpcore.Request(
                method=request.method,
                url=url,
                headers=request.headers.raw,
                content=request.read(),
                extensions={"timeout": {"connect": CONNECT_SECONDS, "read": READ_SECONDS, "write": 10.0}},
            )
        )
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer))

    def close(self) -> None:
        """Close the connections that are kept."""
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        yield from self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


class _CheckedBackend(httpcore.NetworkBackend):
    def __init__(self, bounds: Bounds, look_up: Resolve) -> None:
        self._bounds = bounds
        self._look_up = look_up
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to one of the addresses of `host`, provided that every one of them is allowed."""
        addresses = self._addresses(host, port)
        for place, address in enumerate(addresses, start=1):
            try:
                stream = self._sockets.connect_tcp(
                    address, port, min(timeout or CONNECT_SECONDS, self._bounds.left()), local_address
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if place == len(addresses):
                    raise
            else:
                return _BoundedStream(stream, self._bounds)
        raise httpcore.ConnectError("The name has no address.")

    def _addresses(self, host: str, port: int) -> list[str]:
        try:
            addresses = self._look_up(host, port)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError("The name cannot be looked up.") from error
        # One that is forbidden among others is how a rebinding name looks half of the time.
        if not self._bounds.may_be_private and not all(map(is_public, addresses)):
            raise ForbiddenAddress
        return addresses


class _BoundedStream(httpcore.NetworkStream):
    """A stream whose reads end with the request's time, however slowly bytes drip."""

    def __init__(self, stream: httpcore.NetworkStream, bounds: Bounds) -> None:
        self._stream = stream
        self._bounds = bounds

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._bounds.require_time()
        return self._stream.read(max_bytes, min(timeout or READ_SECONDS, self._bounds.left()))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, min(timeout or READ_SECONDS, self._bounds.left()))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        limit = min(timeout or CONNECT_SECONDS, self._bounds.left())
        return _BoundedStream(self._stream.start_tls(ssl_context, server_hostname, limit), self._bounds)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
