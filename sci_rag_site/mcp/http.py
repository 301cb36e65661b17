"""The server over streamable HTTP. Every request brings its key, and stands alone.

A session would live in one process, and what a client waits for would die with it. A request is served by a
manager of its own instead, which ends everything that was started for it when the client goes away.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping

import structlog
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from corpus.api import problems
from corpus.api.hygiene import MOST_BYTES
from corpus.api.problems import Code, Problem
from corpus.keys.authentication import KeyRefused
from sci_rag_site.body_limit import Message, Receive, Scope, Send
from sci_rag_site.mcp import server
from sci_rag_site.mcp.callers import ByKey

logger = structlog.get_logger(__name__)

_SCHEME = "bearer"
_HEADERS = (
    (b"cache-control", b"private, no-store"),
    (b"x-content-type-options", b"nosniff"),
)


async def serve(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one request, and end all that it started."""
    request_id = uuid.uuid4().hex
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(request_id=request_id)
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    answer = _numbered(send, request_id)
    identity = ByKey(_secret(headers))
    refusal = await _refused(scope, identity)
    if refusal is not None:
        await _send(refusal, answer)
        return
    hosts, origins = _own(headers, scope["scheme"])
    manager = StreamableHTTPSessionManager(
        server.build(identity),
        stateless=True,
        security_settings=TransportSecuritySettings(
            enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=origins
        ),
        max_request_body_size=MOST_BYTES + 10_000,
    )
    async with manager.run():
        # ASGI's own types say that messages may be changed; nobody does.
        await manager.handle_request(scope, receive, answer)  # type: ignore[arg-type]


async def _refused(scope: Scope, identity: ByKey) -> Problem | None:
    """Return why the request is not even looked at."""
    if settings.SECURE_SSL_REDIRECT and scope["scheme"] != "https":
        # Not sent on: the key has been over the wire already, and its owner is to notice.
        return problems.invalid("Ask over https.")
    try:
        await server.in_thread(identity.asking)
    except KeyRefused as error:
        return problems.of(error)
    except Exception as error:
        logger.error("mcp.failed", error=type(error).__name__, exc_info=error)  # noqa: TRY400
        return Problem(Code.INTERNAL_ERROR, f"The error is of the type {type(error).__name__}.")
    return None


def _secret(headers: Mapping[str, str]) -> str:
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == _SCHEME else ""


def _own(headers: Mapping[str, str], scheme: str) -> tuple[list[str], list[str]]:
    """Return the request's host where the site answers to it, and the origins whose pages may ask."""
    host = headers.get("host", "")
    domain, _port = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return [], []
    return [host], [f"{scheme}://{host}", *settings.CSRF_TRUSTED_ORIGINS]


def _numbered(send: Send, request_id: str) -> Send:
    async def numbered(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name for name, _ in _HEADERS}
            kept = [(name, value) for name, value in message.get("headers", ()) if name.lower() not in own]
            added = [*_HEADERS, (b"x-request-id", request_id.encode())]
            message = {**message, "headers": [*kept, *added]}
        await send(message)

    return numbered


async def _send(problem: Problem, send: Send) -> None:
    response = problems.response(problem)
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})
