"""A request larger than its address allows does not reach Django."""

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.conf import LazySettings

from corpus.upload_handlers import MOST_FILES
from sci_rag_site.body_limit import BodyLimit, limit_of


@pytest.fixture(autouse=True)
def _one_megabyte(settings: LazySettings) -> None:
    settings.SCI_RAG_MAX_UPLOAD_MB = 1


def served(path: str, *, pieces: list[bytes], announced: bytes = b"") -> tuple[list[Any], list[Any]]:
    """What the application received and what the client was sent."""
    received: list[Any] = []
    sent: list[Any] = []
    waiting = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]

    async def application(scope: Any, receive: Any, send: Any) -> None:
        received.extend([await receive() for _ in pieces])

    async def receive() -> Any:
        return waiting.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"content-length", announced)] if announced else []
    scope = {"type": "http", "path": path, "headers": headers}
    async_to_sync(BodyLimit(application))(scope, receive, send)
    return received, sent


def test_a_body_that_announces_too_much_is_refused_unread() -> None:
    received, sent = served("/sign-in/", pieces=[b"x"], announced=b"999999999999")

    assert received == []
    assert sent[0]["status"] == 413
    assert b"larger than 6 MB" in sent[1]["body"]


def test_a_body_that_announces_nothing_is_cut_off_when_it_grows_too_large() -> None:
    received, _ = served("/sign-in/", pieces=[b"x" * 4_000_000] * 2)

    assert [message["type"] for message in received] == ["http.request", "http.disconnect"]


@pytest.mark.parametrize("announced", [b"-1", b"abc", b"", "١٢".encode(), b"1" * 5_000])
def test_a_length_that_makes_no_sense_does_no_harm(announced: bytes) -> None:
    received, sent = served("/", pieces=[b"x"], announced=announced)

    assert bool(received) is not bool(sent)


def test_only_the_upload_pages_take_many_files() -> None:
    assert limit_of("/documents/upload/") == MOST_FILES * 1_000_000 + 5_000_000
    assert limit_of("/documents/upload/manifest/") == limit_of("/documents/upload/")
    assert limit_of("/") == limit_of("/documents/") == 6_000_000
