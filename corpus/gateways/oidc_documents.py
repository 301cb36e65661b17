"""Reading what a sign-in provider publishes about itself and what it replies: typed, never trusted."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from corpus.gateways import http_addresses
from corpus.gateways.http_addresses import BadAddress


class BadDocument(ValueError):
    """The provider's description of itself cannot be used. `code` says in what."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Description:
    """Where a provider is asked for what. What it does not offer is empty."""

    authorization: str
    token: str
    keys: str
    userinfo: str
    end_session: str
    secret_in_form: bool
    """Whether it takes our secret in the form only; the header is what everybody else takes."""


def description(body: bytes, *, issuer: str, listed: Collection[str]) -> Description:
    """Return what the discovery document of `issuer` says; raise `BadDocument`."""
    told = as_object(body)
    # To the letter, or one provider could speak for another.
    if told.get("issuer") != issuer:
        raise BadDocument("issuer_differs")
    methods = told.get("token_endpoint_auth_methods_supported")
    taken = methods if isinstance(methods, list) else ["client_secret_basic"]
    return Description(
        authorization=_address(told, "authorization_endpoint", listed),
        token=_address(told, "token_endpoint", listed),
        keys=_address(told, "jwks_uri", listed),
        userinfo=_address(told, "userinfo_endpoint", listed, needed=False),
        end_session=_address(told, "end_session_endpoint", listed, needed=False),
        secret_in_form="client_secret_post" in taken and "client_secret_basic" not in taken,
    )


def as_object(body: bytes) -> Mapping[str, Any]:
    """Return a JSON object; raise `BadDocument` for anything else."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        raise BadDocument("no_json") from None
    if not isinstance(told, dict):
        raise BadDocument("no_object")
    return told


def _address(told: Mapping[str, Any], name: str, listed: Collection[str], *, needed: bool = True) -> str:
    value = told.get(name)
    if value is None and not needed:
        return ""
    try:
        url = http_addresses.parse(value if isinstance(value, str) else "")
    except BadAddress:
        raise BadDocument(f"bad_{name}") from None
    # Browsers are sent there with our names for the attempt: not in the clear, unless the operator says so.
    if url.scheme != "https" and not http_addresses.is_listed(url, listed):
        raise BadDocument(f"insecure_{name}")
    return str(value)
