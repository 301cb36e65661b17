"""Asking the site as one of the people of the world, and reading all of what comes back."""

from __future__ import annotations

import json
from typing import Any

from asgiref.sync import async_to_sync
from django.http import HttpResponse
from django.test import Client

from tests.factories.keys import bearer
from tests.leaks.routes import Call
from tests.leaks.world import World


def client_of(world: World, actor: str) -> Client:
    secret = world.secrets.get(actor)
    client = Client(raise_request_exception=False, headers=bearer(secret) if secret else {})
    person = world.people[actor]
    if person is not None:
        client.force_login(person)
    return client


def ask(client: Client, call: Call) -> HttpResponse:
    sent: dict[str, Any] = {"data": call.data}
    if call.body is not None:
        sent = {"data": json.dumps(call.body), "content_type": "application/json"}
    response: HttpResponse = getattr(client, call.method)(
        call.path, headers=call.headers, follow=True, **sent
    )
    return response


async def _drained(response: HttpResponse) -> bytes:
    return b"".join([piece async for piece in response.streaming_content])  # type: ignore[attr-defined]


def content_of(response: HttpResponse) -> bytes:
    """Return the body, of a stream to its end."""
    if not response.streaming:
        return response.content
    # The test client makes the answer to HEAD a plain iterator.
    return async_to_sync(_drained)(response) if response.is_async else b"".join(response.streaming_content)  # type: ignore[attr-defined]


def seen(response: HttpResponse) -> str:
    """Return all that reaches the reader: body, headers and the addresses they were sent on to."""
    addresses = "".join(url for url, _ in getattr(response, "redirect_chain", []))
    return content_of(response).decode(errors="replace") + str(response.headers) + addresses


def headers_of(response: HttpResponse) -> dict[str, str]:
    """Return the headers without the number each request gets."""
    return {name: value for name, value in response.headers.items() if name != "X-Request-ID"}
