"""What the doctor says of the sign-in provider when it asks it."""

from __future__ import annotations

from typing import Any

from sci_rag_site.health import sign_in
from sci_rag_site.health.findings import Finding, Status
from tests.loopback.oidc_server import OidcServer


def look() -> Finding:
    (found,) = sign_in.provider()
    return found


def test_a_probe_reads_what_the_sign_in_provider_publishes(
    sign_in_provider: OidcServer, settings: Any
) -> None:
    assert look().message == "describes itself; 1 keys that are used here"
    sign_in_provider.faults.add("discovery_of_another")
    assert "unreadable (issuer_differs)" in look().message
    settings.SCI_RAG_OIDC_HOSTS = []
    assert look().status is Status.FAIL
    assert "SCI_RAG_OIDC_HOSTS" in look().fix
    settings.SCI_RAG_OIDC_ISSUER = ""
    assert look().message == "none is set"
