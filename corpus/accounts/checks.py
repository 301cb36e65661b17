"""System checks of signing in: settings that cannot work are named before anybody stands at the door."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

# Below, the provider is asked with every click; above, a removal there takes too long to matter here.
_SHORTEST, _LONGEST = 10, 3600


@register
def provider_is_set_up(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """Refuse half a sign-in provider, and one that would be asked in the clear."""
    issuer = settings.SCI_RAG_OIDC_ISSUER
    if not issuer:
        return []
    found = [_of_issuer(issuer), *_of_ourselves()]
    return [
        Error(message, hint=f"{hint} See docs/operating.md, Signing in through a provider.", id="corpus.E010")
        for message, hint in (entry for entry in found if entry is not None)
    ]


def _of_issuer(issuer: str) -> tuple[str, str] | None:
    from corpus.gateways import http_addresses
    from corpus.gateways.http_addresses import BadAddress

    try:
        url = http_addresses.parse(issuer)
        if not http_addresses.is_listed(url, settings.SCI_RAG_OIDC_HOSTS):
            http_addresses.require_public(url)
    except BadAddress as error:
        return (
            f"SCI_RAG_OIDC_ISSUER is {issuer[:200]!r}: {error}.",
            "Write it as the provider's discovery document does. Name a private host in SCI_RAG_OIDC_HOSTS.",
        )
    return None


def _of_ourselves() -> list[tuple[str, str] | None]:
    scopes, seconds = settings.SCI_RAG_OIDC_SCOPES.split(), settings.SCI_RAG_OIDC_CHECK_SECONDS
    secret = settings.SCI_RAG_OIDC_CLIENT_SECRET
    return [
        None
        if settings.SCI_RAG_OIDC_CLIENT_ID.strip()
        else ("SCI_RAG_OIDC_CLIENT_ID is not set.", "The provider gives it when this site is registered."),
        None
        if secret.isascii() and (not secret or secret.isprintable())
        else ("SCI_RAG_OIDC_CLIENT_SECRET has characters that no header takes.", "Copy it again."),
        None
        if "openid" in scopes
        else ("SCI_RAG_OIDC_SCOPES lacks `openid`.", "Without it the provider says nothing of the person."),
        None
        if settings.SCI_RAG_OIDC_GROUPS_CLAIM.strip()
        else ("SCI_RAG_OIDC_GROUPS_CLAIM is empty.", "Name the claim that holds a person's groups."),
        None
        if _SHORTEST <= seconds <= _LONGEST
        else (
            f"SCI_RAG_OIDC_CHECK_SECONDS is {seconds}.",
            f"Choose from {_SHORTEST} to {_LONGEST} seconds.",
        ),
    ]
