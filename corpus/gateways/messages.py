"""Sending messages through the one way out: checked as every request is, and never sent on."""

from __future__ import annotations

import time
from collections.abc import Mapping

import httpx
import structlog

from corpus import connections
from corpus.gateways import http_addresses
from corpus.gateways.http import Fetched, Outbound, OutboundError
from corpus.gateways.http_addresses import BadAddress
from corpus.gateways.pace import retry_after

logger = structlog.get_logger(__name__)


class Messenger(Outbound):
    """Sends to addresses. What a receiver has to say beside its status is not read."""

    def post(self, address: str, *, body: bytes, headers: Mapping[str, str]) -> Fetched:
        """Send `body` to `address` and return how it was answered; a redirect is an answer and not followed.

        Raises `OutboundError`, and `ConnectionHeld` inside a transaction.
        """
        connections.release_before_outside_call()
        started = time.monotonic()
        try:
            answer = self._posted(address, started + self._deadline, body, headers)
        except OutboundError as error:
            logger.info("http.failed", code=error.code, ms=_ms(started))
            raise
        logger.info("http.sent", status=answer.status, ms=_ms(started))
        return answer

    def _posted(self, address: str, until: float, body: bytes, headers: Mapping[str, str]) -> Fetched:
        url, trusted = self._checked(address)
        with (
            self._turn(url, until, trusted=trusted) as host,
            self._client.stream("POST", url, content=body, headers=dict(headers)) as response,
        ):
            self._pace.learn(host, response.headers)
            wait = retry_after(response.headers.get("retry-after"))
            answer = Fetched(response.status_code, str(url), "", b"", wait)
        return self._heeded(host, answer)

    def _checked(self, address: str) -> tuple[httpx.URL, bool]:
        """Return `address` in parts, and whether the operator vouches for its host."""
        try:
            url = http_addresses.parse(address)
            trusted = http_addresses.is_listed(url, self._listed)
            if not trusted:
                http_addresses.require_public(url)
        except BadAddress:
            raise OutboundError("bad_address") from None
        return url, trusted


def _ms(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
