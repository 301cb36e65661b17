"""Bytes over a connection of their own: for requests that no client of HTTP would send."""

from __future__ import annotations

import contextlib
import http.client
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

PATIENCE = 60.0
# What is read of an answer that may go on.
_MOST = 2_000_000


@dataclass(frozen=True, slots=True)
class Heard:
    """What came back. The status is 0 where the server closed the connection without a word."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def number(self) -> str:
        """The number that the request has in the logs."""
        return self.headers.get("X-Request-ID", "")


def heard(address: str, sent: bytes) -> Heard:
    """Send bytes, and return what is answered."""
    parts = urlsplit(address)
    with socket.create_connection(
        (str(parts.hostname), int(parts.port or 80)), timeout=PATIENCE
    ) as connection:
        # It may be answered before all of it was there.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(sent)
        response = http.client.HTTPResponse(connection)
        try:
            response.begin()
            return Heard(response.status, response.headers, response.read(_MOST))
        except (http.client.BadStatusLine, ConnectionResetError):
            return Heard(0, http.client.HTTPMessage(), b"")
