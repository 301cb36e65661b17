"""Turning questions away that come while as many are answered as one process answers at once.

Before anything of them is read: no session, no key, no thread. Five hundred who ask in one moment would
else take turns at being told to wait, and keep those waiting who were let in.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus
from urllib.parse import parse_qsl, urlsplit

from sci_rag_site.body_limit import Application, Receive, Scope, Send, announced, refuse

# Addresses of their own, since Django has its routes only by the time a request is served; a test compares.
FORM, STREAM, API = "/", "/ask/stream/", "/api/v1/answer"
# A question has 2,000 letters, of twelve bytes each at most, and its scope some more.
_LONGEST_FORM = 64_000
_URLENCODED = b"application/x-www-form-urlencoded"
# What the page shows, or its button sends.
_SHOWN = {"question", "example", "do"}


class AdmissionGate:
    """Answers for the application where it is full; else holds a place until the request has ended."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if not _is_question(scope):
            await self._application(scope, receive, send)
            return
        # Django has its models only by now.
        from answers import admission

        try:
            place = admission.take()
        except admission.Full:
            await _turn_away(scope, receive, send, str(admission.retry_after()))
            return
        try:
            with admission.holding(place):
                await self._application(scope, receive, send)
        finally:
            place.leave()


def _is_question(scope: Scope) -> bool:
    return scope["type"] == "http" and scope["method"] == "POST" and scope["path"] in (FORM, STREAM, API)


async def _turn_away(scope: Scope, receive: Receive, send: Send, seconds: str) -> None:
    if scope["path"] == API:
        body, kind = _problem()
    elif scope["path"] == STREAM:
        body, kind = _fragment(), "text/html; charset=utf-8"
    else:
        body, kind = await _page(scope, receive), "text/html; charset=utf-8"
    more = [(b"retry-after", seconds.encode()), *(_policy() if kind.startswith("text/html") else ())]
    await refuse(send, body, kind=kind, status=HTTPStatus.SERVICE_UNAVAILABLE, more=more)


@lru_cache(maxsize=1)
def _problem() -> tuple[bytes, str]:
    from answers.api.answering import busy
    from corpus.api.problems import MEDIA_TYPE, response

    return response(busy()).content, MEDIA_TYPE


@lru_cache(maxsize=1)
def _fragment() -> bytes:
    from django.template.loader import render_to_string

    return render_to_string("answers/stream.html#busy").encode()


@lru_cache(maxsize=1)
def _policy() -> list[tuple[bytes, bytes]]:
    """Return the header that lets a page load the site's files."""
    from csp.utils import build_policy

    return [(b"content-security-policy", build_policy().encode())]


async def _page(scope: Scope, receive: Receive) -> bytes:
    """Return a page that holds what was sent and sends it again: without scripts nothing else keeps it.

    Only to who sent it from a page of this site: nobody else puts words on one.
    """
    from django.template.loader import render_to_string

    fields = await _fields(scope, receive) if _is_from_here(scope) else []
    sent = dict(fields)
    context = {
        # Pressing an example asks it, whatever stands in the box.
        "question": sent.get("example") or sent.get("question", ""),
        "others": [(name, value) for name, value in fields if name not in _SHOWN],
    }
    return render_to_string("answers/busy.html", context).encode()


def _is_from_here(scope: Scope) -> bool:
    headers: Mapping[bytes, bytes] = dict(scope["headers"])
    host = headers.get(b"host", b"").decode("latin-1")
    return bool(host) and urlsplit(headers.get(b"origin", b"").decode("latin-1")).netloc == host


async def _fields(scope: Scope, receive: Receive) -> list[tuple[str, str]]:
    kind = dict(scope["headers"]).get(b"content-type", b"")
    if not kind.startswith(_URLENCODED) or not 0 < announced(scope) <= _LONGEST_FORM:
        return []
    body, more = b"", True
    while more and len(body) <= _LONGEST_FORM:
        message = await receive()
        body += message.get("body", b"")
        more = message["type"] == "http.request" and message.get("more_body", False)
    try:
        return parse_qsl(body.decode("ascii"), max_num_fields=200)
    except ValueError:
        return []
