"""The headers that every response has, whoever answers: a page, a file, or what turns a request away unread.

What a response says itself stands. Most of it comes from Django's middleware; this is the net below.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings

from sci_rag_site.body_limit import Application, Message, Receive, Scope, Send
from sci_rag_site.middleware import PERMISSIONS_POLICY

# For what is no page. Pages have their own policy, which lets them load the site's files.
NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
DEFAULTS: Mapping[str, str] = {
    "content-security-policy": NOTHING,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": PERMISSIONS_POLICY,
    "cache-control": "private, no-store",
}


class ProtectiveHeaders:
    """Adds to each response what it does not say itself."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *_missing(message, scope)]}
            await send(message)

        await self._application(scope, receive, protected if scope["type"] == "http" else send)


def _missing(message: Message, scope: Scope) -> list[tuple[bytes, bytes]]:
    said = {bytes(name).lower() for name, _ in message.get("headers", ())}
    wanted = dict(DEFAULTS)
    if settings.SECURE_HSTS_SECONDS and scope.get("scheme") == "https":
        wanted["strict-transport-security"] = (
            f"max-age={settings.SECURE_HSTS_SECONDS}; includeSubDomains; preload"
        )
    return [(name.encode(), value.encode()) for name, value in wanted.items() if name.encode() not in said]
