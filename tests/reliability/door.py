"""A site that this process serves, what opens it to a program and to a browser, and its log."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import structlog
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from corpus.models import Document
from sci_rag_site.logging import ClientFaults
from tests.factories.keys import secret_of
from tests.integration.answers.conftest import small_corpus, straw
from tests.loopback import served
from tests.loopback.fixtures import forget_clients
from tests.reliability.hostile.requests import BadRequest
from tests.reliability.wire import Heard, heard

__all__ = ["Door", "opened_door", "small_corpus", "straw"]
TOKEN = "a" * 32


@dataclass(frozen=True, slots=True)
class Door:
    """A served site, and what opens it to a program and to a browser."""

    address: str
    secret: str
    cookie: str
    log: io.StringIO

    def bytes_of(self, request: BadRequest) -> bytes:
        """Return a request with the credentials it is to have."""
        given = {
            "key": (f"Authorization: Bearer {self.secret}",),
            "session": (f"Cookie: {self.cookie}", f"X-CSRFToken: {TOKEN}"),
        }
        return request.on_wire(*given.get(request.by, ()))

    def put(self, request: BadRequest) -> Heard:
        """Send a request."""
        return heard(self.address, self.bytes_of(request))

    def complaints(self) -> list[str]:
        """Return the lines of the log that tell of an exception: no client may bring one about."""
        lines = self.log.getvalue().splitlines()
        return [f"log: {line[:400]}" for line in lines if '"exception"' in line or "Traceback" in line]


@pytest.fixture(name="door")
def opened_door(
    librarian: User,
    client: Client,
    small_corpus: dict[str, Document],
    settings: Settings,
    tmp_path: Path,
) -> Iterator[Door]:
    """The small corpus behind a door, with a librarian's key and session."""
    settings.MEDIA_ROOT = tmp_path / "media"
    client.force_login(librarian)
    session = client.cookies[django_settings.SESSION_COOKIE_NAME].value
    cookie = f"{django_settings.SESSION_COOKIE_NAME}={session}; {django_settings.CSRF_COOKIE_NAME}={TOKEN}"
    with served.site() as address, written() as log:
        yield Door(address, secret_of(librarian), cookie, log)
    forget_clients()


@contextmanager
def written() -> Iterator[io.StringIO]:
    """Yield the log of this process as the site writes it."""
    form = structlog.stdlib.ProcessorFormatter
    root = logging.getLogger()
    formatter = next(one.formatter for one in root.handlers if isinstance(one.formatter, form))
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    handler.addFilter(ClientFaults())
    root.addHandler(handler)
    try:
        yield stream
    finally:
        root.removeHandler(handler)
