"""Requests that carry a secret and want a reply: one hop to an address that was checked, never sent on."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping

import httpx
import structlog

from corpus import connections
from corpus.gateways.http import Fetched, OutboundError
from corpus.gateways.messages import Messenger
from corpus.gateways.pace import Pace

logger = structlog.get_logger(__name__)


class Unhurried(Pace):
    """For hosts that are asked because a person waits: nobody's question keeps a distance to another's."""

    def wait(self, host: str) -> float:
        """Return at once."""
        return 0.0


class Exchanging(Messenger):
    """The outbound client, for hosts that we show who we are."""

    def close(self) -> None:
        """Close the connections that are kept. It is used as a whole, not within a `with`."""
        self._client.close()

    def exchange(
        self,
        method: str,
        address: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        accept: Collection[str],
        most_bytes: int,
    ) -> Fetched:
        """Send one request and return the reply, whatever its status; a redirect is a reply like another.

        Raises `OutboundError`, and `ConnectionHeld` inside a transaction.
        """
        connections.release_before_outside_call()
        started = time.monotonic()
        try:
            fetched = self._sent(method, address, headers, body, accept, most_bytes)
        except OutboundError as error:
            logger.info("http.failed", code=error.code)
            raise
        logger.info("http.exchanged", status=fetched.status, ms=round((time.monotonic() - started) * 1000))
        return fetched

    def _sent(
        self,
        method: str,
        address: str,
        headers: Mapping[str, str],
        body: bytes | None,
        accept: Collection[str],
        most_bytes: int,
    ) -> Fetched:
        url, trusted = self._checked(address)
        until = time.monotonic() + self._deadline
        told = {**headers, "Accept": ", ".join(accept)}
        with (
            self._turn(url, until, trusted=trusted),
            self._client.stream(method, url, headers=told, content=body) as response,
        ):
            media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if response.is_success and (media_type not in accept or response.headers.get("content-encoding")):
                raise OutboundError("wrong_type")
            return Fetched(response.status_code, str(url), media_type, _bounded(response, most_bytes))


def _bounded(response: httpx.Response, most_bytes: int) -> bytes:
    body = bytearray()
    # As it came: nothing unpacks here, so nothing can grow.
    for piece in response.iter_raw():
        body += piece
        if len(body) > most_bytes:
            raise OutboundError("too_large")
    return bytes(body)
