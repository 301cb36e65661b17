"""Turning uploads away that are beyond their sender's daily quota, before their bodies are read.

The upload handler counts what is sent; this only spares the disk what it would refuse. Who is not signed in,
or whose request does not say how large it is, is left to the pages.
"""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from importlib import import_module

from asgiref.sync import sync_to_async
from django.conf import settings

from sci_rag_site.body_limit import MANY_FILES, Application, Receive, Scope, Send, announced, refuse

# Requests this small are cheaper to read than to look into.
_WORTH_A_LOOK = 1_000_000


class UploadQuota:
    """Answers for the application where a person has sent enough for a day."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request that its sender may still make."""
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"].startswith(MANY_FILES):
            size = announced(scope)
            words = await sync_to_async(_refusal)(scope, size) if size > _WORTH_A_LOOK else ""
            if words:
                await _refuse(send, words, scope["path"])
                return
        await self._application(scope, receive, send)


def _refusal(scope: Scope, size: int) -> str:
    """Return why the sender may not send that much now, nothing when they may or nobody knows them."""
    from django.contrib.auth import get_user
    from django.http import HttpRequest

    from corpus import connections
    from corpus.actions import upload_quota

    request = HttpRequest()
    store = import_module(settings.SESSION_ENGINE).SessionStore
    request.session = store(_session_key(scope))
    try:
        refusal = upload_quota.over_quota(by=get_user(request), size=size)
    finally:
        connections.release()
    return "" if refusal is None else str(refusal)


def _session_key(scope: Scope) -> str | None:
    for name, value in scope["headers"]:
        if name == b"cookie":
            try:
                cookie = SimpleCookie(value.decode("latin-1")).get(settings.SESSION_COOKIE_NAME)
            except CookieError:
                return None
            return None if cookie is None else cookie.value
    return None


async def _refuse(send: Send, words: str, path: str) -> None:
    """Answer in words, or with the line that the upload page shows for one file."""
    from django.template.loader import render_to_string

    kind, body = "text/plain", f"{words}\n"
    if path.endswith("/file/"):
        line = {"name": "", "verdict": "refused", "code": "over_quota", "detail": words}
        kind, body = "text/html", render_to_string("components/upload_line.html", {"line": line})
    await refuse(send, body.encode(), kind=f"{kind}; charset=utf-8", status=413)
