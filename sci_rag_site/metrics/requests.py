"""Counting and noting every request: which route, how it ended, how long it took. Never what was asked.

Around everything else, so that what is refused before Django is counted too, and until the end of a stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic
from typing import Any

import structlog
from django.conf import settings
from django.urls import Resolver404, resolve

from corpus.metrics import catalogue
from sci_rag_site.body_limit import Application, Receive, Scope, Send
from sci_rag_site.mcp.endpoint import PATH as MCP_PATH

logger = structlog.get_logger(__name__)

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# What probes and browsers ask for all the time is counted, and not worth a line.
UNNOTED = frozenset({"healthz", "readyz", "metrics", "static"})
# What the connection of somebody who left before an answer ends with, as nginx has it.
LEFT = 499


class RequestMeter:
    """Counts requests and logs one line for each."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request and see how it ends."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        started, ending = monotonic(), _Ending()

        async def noted(message: Mapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                ending.status, ending.request_id = message["status"], _request_id(message)
            await send(message)

        try:
            await self._application(scope, receive, noted)
        except Exception:
            ending.status = ending.status if ending.status != LEFT else 500
            raise
        finally:
            _note(scope, ending, monotonic() - started)


class _Ending:
    """How a request ended, as far as is known by now."""

    def __init__(self) -> None:
        self.status = LEFT
        self.request_id = ""


def _note(scope: Scope, ending: _Ending, seconds: float) -> None:
    route = route_of(scope["path"])
    method = scope["method"] if scope["method"] in METHODS else "other"
    catalogue.REQUESTS.count(route=route, method=method, status=str(ending.status))
    catalogue.REQUEST_SECONDS.observe(seconds, route=route)
    if route not in UNNOTED:
        logger.info(
            "request.finished",
            request_id=ending.request_id,
            route=route,
            method=method,
            status=ending.status,
            ms=round(seconds * 1000, 1),
        )


def route_of(path: str) -> str:
    """Return the name of the route that an address leads to: no part of the address itself."""
    if path.startswith(settings.STATIC_URL):
        return "static"
    if path.rstrip("/") == MCP_PATH:
        return "mcp"
    try:
        found = resolve(path)
    except Resolver404:
        return "none"
    return found.view_name or found.route or "unnamed"


def _request_id(message: Mapping[str, Any]) -> str:
    for name, value in message.get("headers", ()):
        if name.lower() == b"x-request-id":
            return str(value.decode("latin-1"))
    return ""
