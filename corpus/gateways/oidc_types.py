"""What is said about a sign-in provider and by it, in types of ours. Nothing here asks anybody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

_PASSING = frozenset({"unreachable", "unavailable", "unreadable", "misconfigured"})


class ProviderError(Exception):
    """The provider did not vouch. `code` says why.

    unreachable, unavailable, unreadable, misconfigured (it does not know us, or not as we are set up),
    refused (it knows and says no), untrusted (what it said does not prove itself). `detail` is for logs.
    """

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(f"{code} {detail}".strip())
        self.code = code
        self.detail = detail

    @property
    def passes(self) -> bool:
        """Whether it may vouch another time: it has not said no."""
        return self.code in _PASSING


@dataclass(frozen=True, slots=True)
class Registration:
    """The provider that the settings name, and how it knows us."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    scopes: str
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Tokens:
    """What the provider is asked again with."""

    access: str
    access_until: float
    refresh: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Vouching:
    """Verified claims about one person, and what to ask again with."""

    claims: Mapping[str, Any]
    tokens: Tokens


def registration() -> Registration | None:
    """Return how this site is known to a provider; None where people sign in with passwords only."""
    if not settings.SCI_RAG_OIDC_ISSUER:
        return None
    return Registration(
        issuer=settings.SCI_RAG_OIDC_ISSUER,
        client_id=settings.SCI_RAG_OIDC_CLIENT_ID,
        client_secret=settings.SCI_RAG_OIDC_CLIENT_SECRET,
        scopes=settings.SCI_RAG_OIDC_SCOPES,
        hosts=tuple(settings.SCI_RAG_OIDC_HOSTS),
    )
