"""Sending requests: the key kept out of sight, time bounded, and safe calls tried again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import httpx

from sci_rag_site.client import problems
from sci_rag_site.client.problems import BadAnswer, ClientError, ConnectionFailed, TimedOut

# Where nothing was done, or what was done can be done again.
_AGAIN = frozenset({429, 502, 503, 504})
_FIRST_PAUSE = 0.5
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Connection:
    """Where the API is, by whose key it is asked, and how patiently."""

    def __init__(
        self,
        address: str,
        key: str,
        *,
        timeout: float,
        retries: int,
        longest_wait: float,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        base = httpx.URL(address.rstrip("/"))
        if base.scheme != "https" and base.host not in _LOOPBACK:
            raise ValueError("A key is sent over https only, or to this machine.")
        if not key or not key.isascii() or any(sign.isspace() for sign in key):
            raise ValueError("This is no key.")
        self.address = str(base)
        self._retries, self._longest_wait, self._sleep = retries, longest_wait, sleep
        self._client = httpx.Client(
            base_url=f"{self.address}/api/v1",
            headers={"Authorization": f"Bearer {key}", "User-Agent": f"sci-rag-client/{_version()}"},
            timeout=timeout,
            # Somebody else would be sent the key.
            follow_redirects=False,
        )

    def close(self) -> None:
        """Close the connections that are kept."""
        self._client.close()

    def send(self, method: str, path: str, *, is_safe: bool, **what: Any) -> httpx.Response:
        """Return the response of a success, read; raise a `ClientError` for everything else."""
        for attempt in range(self._retries + 1 if is_safe else 1):
            is_last = not is_safe or attempt == self._retries
            try:
                response = self._once(method, path, what)
            except ConnectionFailed:
                if is_last:
                    raise
                self._sleep(_pause(attempt))
                continue
            if response.is_success:
                return response
            asked = problems.retry_after(response)
            wait = _pause(attempt) if asked is None else asked
            if is_last or response.status_code not in _AGAIN or wait > self._longest_wait:
                raise _refusal(response)
            self._sleep(wait)
        raise AssertionError("Every way out of the loop is in it.")

    def open_stream(self, path: str, *, json: Mapping[str, Any], silence: float) -> httpx.Response:
        """Return the response of a success, to be read as it comes; never tried again."""
        timeout = httpx.Timeout(self._client.timeout.connect or silence, read=silence)
        request = self._client.build_request(
            "POST", path, json=json, headers={"Accept": "text/event-stream"}, timeout=timeout
        )
        with _named():
            response = self._client.send(request, stream=True)
            if not response.is_success:
                response.read()
        if not response.is_success:
            response.close()
            raise _refusal(response)
        return response

    def _once(self, method: str, path: str, what: Mapping[str, Any]) -> httpx.Response:
        with _named():
            return self._client.request(method, path, **what)


class _named:  # noqa: N801 - used like a function
    """Turn what the library below raises into what this one does, without the request it carries."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, httpx.TimeoutException):
            raise TimedOut("The site took longer than one waits.") from None
        if isinstance(error, httpx.TransportError):
            raise ConnectionFailed(f"The site could not be asked: {type(error).__name__}.") from None


def _refusal(response: httpx.Response) -> ClientError:
    if response.is_redirect:
        return BadAnswer("The address has moved; the key is not sent on. Use the new one.")
    return problems.of(response)


def _pause(attempt: int) -> float:
    # Not all who were turned away at once come back at once.
    return _FIRST_PAUSE * 2.0**attempt * random.uniform(0.75, 1.25)  # noqa: S311


def _version() -> str:
    try:
        return version("sci-rag")
    except PackageNotFoundError:
        return "0"
