"""Asking a sign-in provider about people: OpenID Connect, the code flow with PKCE.

Authlib makes and reads what the protocol says; the bytes go through the one outbound client. Logs say how it
went by a code. Neither codes nor errors hold tokens, claims or what the provider wrote.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from urllib.parse import urlencode

from authlib.common.errors import AuthlibBaseError
from authlib.oauth2 import OAuth2Client
from joserfc.jwk import KeySet

from corpus.gateways import oidc_documents, oidc_tokens
from corpus.gateways.exchanging import Exchanging, Unhurried
from corpus.gateways.http import Fetched, OutboundError
from corpus.gateways.oidc_documents import BadDocument, Description
from corpus.gateways.oidc_tokens import UnknownKey, UntrustedToken
from corpus.gateways.oidc_types import ProviderError, Registration, Tokens, Vouching

SECONDS = 10.0
MOST_BYTES = 1_000_000
# How long its description of itself and its keys are taken as known, and how often a key that is not among
# them makes us look again: anybody can name a key.
KNOWN_SECONDS = 3600.0
LOOK_AGAIN_SECONDS = 30.0
# What an access token is good for when nobody says.
_USUAL_LIFE = 300
_JSON = ("application/json",)
_KEYS = ("application/json", "application/jwk-set+json")
T = TypeVar("T")


@dataclass(slots=True)
class _Known:
    description: Description
    at: float
    keys: KeySet | None = None
    keys_at: float = 0.0


_known: dict[tuple[str, str], _Known] = {}
_known_lock = threading.Lock()


_clients: dict[tuple[str, ...], Exchanging] = {}


def _outbound(hosts: tuple[str, ...]) -> Exchanging:
    # One for all threads: reading the machine's certificates takes longer than most replies.
    with _known_lock:
        if hosts not in _clients:
            _clients[hosts] = Exchanging(contact="", listed=hosts, deadline=SECONDS, pace=Unhurried())
        return _clients[hosts]


def forget() -> None:
    """Look at the providers' descriptions and keys anew with the next question."""
    with _known_lock:
        _known.clear()
        for client in _clients.values():
            client.close()
        _clients.clear()


class _Auth(Protocol):
    def prepare(
        self, method: str, uri: str, headers: dict[str, str], body: str
    ) -> tuple[str, dict[str, str], str]: ...


@dataclass(frozen=True, slots=True)
class _Reply:
    """As much of a response as Authlib reads."""

    fetched: Fetched

    @property
    def status_code(self) -> int:
        return self.fetched.status

    def json(self) -> Any:
        return oidc_documents.as_object(self.fetched.body)

    def raise_for_status(self) -> None:
        status = self.fetched.status
        if status >= 500 or status in {408, 429}:
            raise ProviderError("unavailable", str(status))
        if status >= 400:
            raise ProviderError("misconfigured", str(status))


class _Wire:
    """What Authlib sends through: the one outbound client, which checks every address."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def post(self, url: str, data: Mapping[str, str], headers: Mapping[str, str], auth: _Auth) -> _Reply:
        # A copy: Authlib hands out one dict to everybody, and the secret is written into it.
        url, sent, body = auth.prepare("POST", url, dict(headers), urlencode(data))
        return _Reply(self._provider.exchange("POST", url, headers=sent, body=body.encode()))


class Provider:
    """The provider of a registration. Cheap to make; what it published is shared in the process."""

    def __init__(self, known_as: Registration) -> None:
        self._known_as = known_as

    @property
    def issuer(self) -> str:
        """The name under which it vouches."""
        return self._known_as.issuer

    def look(self) -> int:
        """Read anew what it publishes; return how many of its keys are used. Raises `ProviderError`."""
        forget()
        return len(self._keys().keys)

    def authorization_address(self, *, redirect: str, state: str, nonce: str, verifier: str) -> str:
        """Return where a browser goes to sign in. Raises `ProviderError`."""
        address, _state = self._client().create_authorization_url(
            self._described().authorization,
            state=state,
            code_verifier=verifier,
            nonce=nonce,
            redirect_uri=redirect,
        )
        return str(address)

    def redeem(self, *, code: str, redirect: str, verifier: str, nonce: str) -> Vouching:
        """Return whom a code from the browser stands for. Raises `ProviderError`."""
        told = self._asked_for_tokens(
            lambda client, url: client.fetch_token(
                url, grant_type="authorization_code", code=code, redirect_uri=redirect, code_verifier=verifier
            )
        )
        tokens, signed = _tokens(told), told.get("id_token")
        if not isinstance(signed, str):
            raise ProviderError("untrusted", "no_id_token")
        claims = self._verified(signed, nonce=nonce, access=tokens.access)
        return Vouching({**claims, **self._userinfo(tokens.access, claims["sub"])}, tokens)

    def ask_again(self, tokens: Tokens, *, subject: str) -> Vouching:
        """Return what the provider says of the person now. Raises `ProviderError`: refused means no more."""
        claims: Mapping[str, Any] = {"sub": subject}
        if tokens.refresh:
            tokens, claims = self._refreshed(tokens, subject)
        elif tokens.access_until <= time.time():
            raise ProviderError("refused", "nothing_to_ask_with")
        elif not self._described().userinfo:
            raise ProviderError("refused", "nowhere_to_ask")
        return Vouching({**claims, **self._userinfo(tokens.access, subject)}, tokens)

    def end_session_address(self, *, back: str) -> str:
        """Return where a browser signs out of the provider too, or nothing. Raises `ProviderError`."""
        address = self._described().end_session
        if not address:
            return ""
        query = urlencode({"client_id": self._known_as.client_id, "post_logout_redirect_uri": back})
        return f"{address}{'&' if '?' in address else '?'}{query}"

    def exchange(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes | None = None
    ) -> Fetched:
        """Send one request of the protocol, which is never sent on elsewhere. Raises `ProviderError`."""
        try:
            return _outbound(self._known_as.hosts).exchange(
                method, url, headers=headers, body=body, accept=_JSON, most_bytes=MOST_BYTES
            )
        except OutboundError as error:
            raise _unheard(error) from None

    def _refreshed(self, tokens: Tokens, subject: str) -> tuple[Tokens, Mapping[str, Any]]:
        told = self._asked_for_tokens(
            lambda client, url: client.refresh_token(url, refresh_token=tokens.refresh)
        )
        newer, signed = _tokens(told), told.get("id_token")
        newer = Tokens(newer.access, newer.access_until, newer.refresh or tokens.refresh)
        if signed is None:
            return newer, {"sub": subject}
        claims = self._verified(str(signed), nonce=None, access=newer.access)
        if claims["sub"] != subject:
            raise ProviderError("refused", "another_subject")
        return newer, claims

    def _asked_for_tokens(self, ask: Callable[[OAuth2Client, str], Any]) -> Mapping[str, Any]:
        described = self._described()
        try:
            told = ask(self._client(secret_in_form=described.secret_in_form), described.token)
        except AuthlibBaseError as error:
            kind = str(error.error)
            refused = kind in {"invalid_grant", "access_denied"}
            raise ProviderError("refused" if refused else "misconfigured", _plain(kind)) from None
        except BadDocument:
            raise ProviderError("unreadable", "token_reply") from None
        except (ValueError, TypeError):
            raise ProviderError("unreadable", "token_reply") from None
        return dict(told)

    def _client(self, *, secret_in_form: bool = False) -> OAuth2Client:
        us = self._known_as
        method = "client_secret_post" if secret_in_form else "client_secret_basic"
        return OAuth2Client(
            session=_Wire(self),
            client_id=us.client_id,
            client_secret=us.client_secret or None,
            token_endpoint_auth_method=method if us.client_secret else "none",
            scope=us.scopes,
            code_challenge_method="S256",
        )

    def _userinfo(self, access: str, subject: str) -> Mapping[str, Any]:
        address = self._described().userinfo
        if not address:
            return {}
        fetched = self.exchange("GET", address, headers={"Authorization": f"Bearer {access}"})
        if fetched.status in {400, 401, 403}:
            raise ProviderError("refused", f"userinfo_{fetched.status}")
        if fetched.status != 200:
            raise ProviderError("unavailable", f"userinfo_{fetched.status}")
        try:
            told = oidc_documents.as_object(fetched.body)
        except BadDocument:
            raise ProviderError("unreadable", "userinfo") from None
        # Or somebody else's answer would be taken for this person's.
        if told.get("sub") != subject:
            raise ProviderError("untrusted", "userinfo_of_another")
        return told

    def _verified(self, token: str, *, nonce: str | None, access: str) -> Mapping[str, Any]:
        us = self._known_as

        def verify(known: KeySet) -> Mapping[str, Any]:
            return oidc_tokens.verify(
                token, known, issuer=us.issuer, client_id=us.client_id, nonce=nonce, access_token=access
            )

        try:
            try:
                return verify(self._keys())
            except UnknownKey:
                return verify(self._keys(newer=True))
        except UntrustedToken as error:
            raise ProviderError("untrusted", error.code) from None

    def _described(self) -> Description:
        with _known_lock:
            known = _known.get(self._key())
        if known is None or time.monotonic() - known.at > KNOWN_SECONDS:
            address = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
            told = self._read(
                address,
                lambda body: oidc_documents.description(
                    body, issuer=self.issuer, listed=self._known_as.hosts
                ),
            )
            known = _Known(told, time.monotonic())
            with _known_lock:
                _known[self._key()] = known
        return known.description

    def _keys(self, *, newer: bool = False) -> KeySet:
        described = self._described()
        with _known_lock:
            known = _known.setdefault(self._key(), _Known(described, time.monotonic()))
        age = time.monotonic() - known.keys_at
        if known.keys is None or age > KNOWN_SECONDS or (newer and age > LOOK_AGAIN_SECONDS):
            known.keys = self._read(described.keys, oidc_tokens.keys)
            known.keys_at = time.monotonic()
        return known.keys

    def _read(self, address: str, read: Callable[[bytes], T]) -> T:
        try:
            fetched = _outbound(self._known_as.hosts).get(address, accept=_KEYS, most_bytes=MOST_BYTES)
        except OutboundError as error:
            raise _unheard(error) from None
        if fetched.status != 200:
            raise ProviderError("unavailable", str(fetched.status))
        try:
            return read(fetched.body)
        except BadDocument as error:
            raise ProviderError("unreadable", error.code) from None
        except ValueError:
            raise ProviderError("unreadable", "keys") from None

    def _key(self) -> tuple[str, str]:
        return self._known_as.issuer, self._known_as.client_id


def _tokens(told: Mapping[str, Any]) -> Tokens:
    access, refresh, life = told.get("access_token"), told.get("refresh_token"), told.get("expires_in")
    if not isinstance(access, str) or not access.isascii() or not access.isprintable():
        raise ProviderError("unreadable", "access_token")
    seconds = life if isinstance(life, int) and 0 < life < 10**7 else _USUAL_LIFE
    return Tokens(access, time.time() + seconds, refresh if isinstance(refresh, str) else "")


def _unheard(error: OutboundError) -> ProviderError:
    if error.code in {"wrong_type", "too_large", "truncated"}:
        return ProviderError("unreadable", error.code)
    return ProviderError("unreachable", error.code)


def _plain(kind: str) -> str:
    """Return an error's name as far as it is one: it was written by somebody else."""
    return kind if len(kind) <= 40 and kind.replace("_", "").isalnum() and kind.isascii() else "unnamed"
