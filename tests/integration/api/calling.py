"""Calling the API as a program does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client

from tests.factories.keys import bearer, secret_of

ROOT = "/api/v1"


class Api:
    """A program with a key, or with none."""

    def __init__(self, secret: str | None = None) -> None:
        self.client = Client(raise_request_exception=False, headers=bearer(secret) if secret else {})

    @classmethod
    def of(cls, owner: User, **wanted: Any) -> Api:
        """Return a program with a new key of `owner`."""
        return cls(secret_of(owner, **wanted))

    def get(self, path: str, **parameters: Any) -> HttpResponse:
        return self.client.get(ROOT + path, parameters)

    def post(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        data = body if isinstance(body, (bytes, str)) else json.dumps(body)
        return self.client.post(ROOT + path, data, content_type="application/json", headers=headers)


def events_of(response: HttpResponse) -> list[tuple[str, Any]]:
    """Return the name and data of each event of a stream, read to its end."""
    return list(_events(async_to_sync(_drained)(response)))


async def _drained(response: HttpResponse) -> str:
    return b"".join([piece async for piece in response.streaming_content]).decode()  # type: ignore[attr-defined]


def _events(text: str) -> Iterator[tuple[str, Any]]:
    for part in filter(None, text.split("\n\n")):
        name, data = part.split("\n")
        yield name.removeprefix("event: "), json.loads(data.removeprefix("data: "))
