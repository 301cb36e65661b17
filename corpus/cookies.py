"""What cookies of this site are called where it is served over TLS: no other host can set one of these."""

from __future__ import annotations

from django.conf import settings

_HOST_ONLY = "__Host-"


def name_of(cookie: str) -> str:
    """Return the name under which `cookie` is set and read. Its prefix binds it to this host."""
    return f"{_HOST_ONLY}{cookie}" if is_secure() else cookie


def is_secure() -> bool:
    """Return whether cookies are for TLS alone."""
    secure: bool = settings.SESSION_COOKIE_SECURE
    return secure
