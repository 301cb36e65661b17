"""The one way out over HTTP. Whatever fetches an address for us does it through here.

Only to public hosts over https unless the operator lists a host, no cookies, no proxy of the environment,
redirects by hand with every hop checked and none of what is sent, bounded in time and size. Logs say how it
went, not what was asked.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType
from typing import BinaryIO, Self

import httpcore
import httpx
import structlog
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import validate_email

from corpus import connections
from corpus.gateways import http_addresses
from corpus.gateways.bodies import BadBody, Wanted
from corpus.gateways.http_addresses import BadAddress
from corpus.gateways.http_transport import Bounds, CheckedTransport, ForbiddenAddress, Resolve, resolve
from corpus.gateways.pace import HeldBack, Pace, retry_after

logger = structlog.get_logger(__name__)

MOST_REDIRECTS = 3
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_pace = Pace()


class ContactMissing(ImproperlyConfigured):
    """Providers ask who calls, and nobody has said."""


class OutboundError(Exception):
    """Nothing usable came back. `code` is one of the names below, and all there is to say.

    bad_address, forbidden_address, too_many_redirects, unreachable, timeout, truncated, too_large,
    wrong_type, wrong_signature, not_stored where the disk refused, and held_back for a host that asked to be
    left alone for long.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a host answered. The media type was checked for a success only."""

    status: int
    url: str
    media_type: str
    body: bytes = field(repr=False)
    wait: float | None = None
    """How long the host asks to be left alone, in seconds. The next request to it waits by itself."""


def contact() -> str:
    """Return the address that requests name as ours; raise `ContactMissing` where it is none."""
    address = str(settings.SCI_RAG_CONTACT_EMAIL).strip()
    try:
        # Headers are ASCII; the validator alone would let other letters through.
        validate_email(address if address.isascii() else "")
    except ValidationError:
        given = f"{address[:100]!r} is no e-mail address" if address else "it is not set"
        raise ContactMissing(
            "Crossref and its like want to know whom to write to when requests go wrong. Set "
            f"SCI_RAG_CONTACT_EMAIL to an e-mail address that somebody reads: {given}."
        ) from None
    return address


class Outbound:
    """Fetches addresses. Use as a context manager; threads may share one.

    `contact` is empty where nobody is asked for anything. `listed` are hosts the operator vouches for, by
    default those of the settings. `deadline` bounds one fetch with its redirects, in seconds.
    """

    def __init__(
        self,
        *,
        contact: str,
        listed: Collection[str] | None = None,
        deadline: float = 30.0,
        look_up: Resolve = resolve,
        pace: Pace = _pace,
    ) -> None:
        self._listed = frozenset(settings.SCI_RAG_OUTBOUND_HOSTS if listed is None else listed)
        self._deadline = deadline
        self._pace = pace
        self._bounds = Bounds()
        self._client = httpx.Client(
            transport=CheckedTransport(self._bounds, look_up),
            trust_env=False,
            headers={"User-Agent": _user_agent(contact), "Accept-Encoding": "identity"},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def get(self, address: str, *, accept: Collection[str], most_bytes: int) -> Fetched:
        """Fetch `address`, whose success must be of one of the media types `accept`.

        Raises `OutboundError`, and `ConnectionHeld` inside a transaction. A status that is no success is an
        answer like another; its body is kept only as far as `most_bytes` go.
        """
        return self._fetched(address, Wanted(accept, most_bytes))

    def save(
        self, address: str, target: BinaryIO, *, accept: Collection[str], most_bytes: int, signature: bytes
    ) -> Fetched:
        """Fetch `address` into `target`, piece by piece; what is returned has no body.

        Like `get`, and a success has to have `signature` within its first 1,024 bytes and to keep a pace of
        1 kB a second. After `OutboundError` the target holds what came until then: it is to be thrown away.
        """
        return self._fetched(address, Wanted(accept, most_bytes, target, signature))

    def _fetched(self, address: str, wanted: Wanted) -> Fetched:
        connections.release_before_outside_call()
        started = time.monotonic()
        try:
            fetched = self._follow(address, started + self._deadline, wanted)
        except OutboundError as error:
            logger.info("http.failed", code=error.code, ms=_ms(started))
            raise
        logger.info("http.fetched", status=fetched.status, bytes=len(fetched.body), ms=_ms(started))
        return fetched

    def _follow(self, address: str, until: float, wanted: Wanted) -> Fetched:
        trusted, came_by = False, ""
        for hop in range(MOST_REDIRECTS + 1):
            try:
                url = http_addresses.parse(address)
                listed = http_addresses.is_listed(url, self._listed)
                # A public host may not send us to one that is only for those who name it themselves.
                trusted = listed if hop == 0 else trusted and listed
                if not trusted:
                    http_addresses.require_public(url)
            except BadAddress:
                raise OutboundError("bad_address") from None
            if came_by not in {"", url.scheme}:
                raise OutboundError("bad_address")
            came_by = url.scheme
            found = self._once(url, until, wanted, trusted=trusted)
            if isinstance(found, Fetched):
                return found
            address = found
        raise OutboundError("too_many_redirects")

    def _once(self, url: httpx.URL, until: float, wanted: Wanted, *, trusted: bool) -> Fetched | str:
        """Return what one request brought, or the address it was sent on to."""
        asked = {"Accept": ", ".join(wanted.accept)}
        with (
            self._turn(url, until, trusted=trusted) as host,
            self._client.stream("GET", url, headers=asked) as response,
        ):
            self._pace.learn(host, response.headers)
            if response.status_code in _REDIRECTS and "location" in response.headers:
                return _joined(url, response.headers["location"])
            fetched = _read(response, url, wanted)
        return self._heeded(host, fetched)

    @contextmanager
    def _turn(self, url: httpx.URL, until: float, *, trusted: bool) -> Iterator[str]:
        """Wait for the host's turn and name by its code whatever goes wrong with the request."""
        host = f"{http_addresses.host_of(url)}:{http_addresses.port_of(url)}"
        try:
            waited = self._pace.wait(host)
        except HeldBack:
            raise OutboundError("held_back") from None
        self._bounds.until, self._bounds.may_be_private = until + waited, trusted
        try:
            yield host
        except ForbiddenAddress:
            raise OutboundError("forbidden_address") from None
        except httpx.InvalidURL:
            # The client looks at where a redirect leads though it does not follow it.
            raise OutboundError("bad_address") from None
        except (httpcore.TimeoutException, httpx.TimeoutException):
            raise OutboundError("timeout") from None
        except (httpcore.RemoteProtocolError, httpcore.ReadError, httpx.TransportError):
            raise OutboundError("truncated") from None
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol, OSError):
            raise OutboundError("unreachable") from None
        finally:
            self._client.cookies.clear()

    def _heeded(self, host: str, fetched: Fetched) -> Fetched:
        if fetched.wait is not None and not 200 <= fetched.status < 300:
            self._pace.hold(host, fetched.wait)
        return fetched


def _read(response: httpx.Response, url: httpx.URL, wanted: Wanted) -> Fetched:
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_packed = bool(response.headers.get("content-encoding"))
    if response.is_success and (media_type not in wanted.accept or is_packed):
        raise OutboundError("wrong_type")
    # As it came: nothing unpacks here, so nothing can grow.
    pieces = response.iter_raw()
    try:
        body = wanted.saved(pieces) if response.is_success else wanted.beginning(pieces)
    except BadBody as error:
        raise OutboundError(error.code) from None
    wait = retry_after(response.headers.get("retry-after"))
    return Fetched(response.status_code, str(url), media_type, body, wait)


def _joined(url: httpx.URL, location: str) -> str:
    try:
        return str(url.join(location))
    except (httpx.InvalidURL, ValueError, UnicodeError):
        raise OutboundError("bad_address") from None


def _user_agent(address: str) -> str:
    """Return who we are, with the address to write to where there is one."""
    try:
        number = version("sci-rag")
    except PackageNotFoundError:
        number = "0"
    return f"sci-rag/{number} (mailto:{address})" if address else f"sci-rag/{number}"


def _ms(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
