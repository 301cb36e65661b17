"""Asking the sign-in provider for its description and keys, with the requests that a sign-in makes."""

from __future__ import annotations

from collections.abc import Iterator

from sci_rag_site.health.findings import Finding, fail, ok

_REMEDIES = {
    "unreachable": "See that this machine reaches it; name a private host in SCI_RAG_OIDC_HOSTS.",
    "unavailable": "It answers with an error: ask whoever runs it.",
    "unreadable": "Write SCI_RAG_OIDC_ISSUER as the provider's discovery document writes itself.",
}


def provider() -> Iterator[Finding]:
    """Read what the provider publishes, if there is one."""
    from corpus.accounts.provider import current
    from corpus.gateways.oidc_types import ProviderError

    found = current()
    if found is None:
        yield ok("probe: sign-in provider", "none is set")
        return
    try:
        count = found.look()
    except ProviderError as error:
        said = f"{error.code} ({error.detail})" if error.detail else error.code
        yield fail("probe: sign-in provider", f"It cannot be used: {said}.", _REMEDIES.get(error.code, ""))
    else:
        yield ok("probe: sign-in provider", f"describes itself; {count} keys that are used here")
