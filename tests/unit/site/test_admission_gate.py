"""The gate: beyond its places a question is turned away unread, told when to come back, and kept."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from django.urls import reverse

from answers import admission
from answers.streaming import in_a_thread
from sci_rag_site import admission_gate
from sci_rag_site.admission_gate import AdmissionGate
from sci_rag_site.body_limit import Message, Receive, Scope, Send

FORM = urlencode(
    {"question": 'Is 5 < 6 & "so"?', "csrfmiddlewaretoken": "abc", "year_min": "2019", "do": "ask"}
)


class Sent:
    """What an application answered."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def __call__(self, message: Message) -> None:
        self.messages.append(message)

    @property
    def status(self) -> int:
        return int(self.messages[0]["status"])

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.messages[0]["headers"]}

    @property
    def body(self) -> str:
        return b"".join(message["body"] for message in self.messages[1:]).decode()


def request(path: str, method: str = "POST", origin: str = "https://lab.example", size: int = 0) -> Scope:
    headers = [
        (b"host", b"lab.example"),
        (b"origin", origin.encode()),
        (b"content-type", b"application/x-www-form-urlencoded"),
        (b"content-length", str(size).encode()),
    ]
    return {"type": "http", "method": method, "path": path, "headers": headers}


def sends(body: str) -> Receive:
    async def receive() -> Message:
        return {"type": "http.request", "body": body.encode(), "more_body": False}

    return receive


async def unread() -> Message:
    raise AssertionError("the body was read")


def asked(
    application: Callable[[Scope, Receive, Send], Awaitable[None]], scope: Scope, receive: Receive = unread
) -> Sent:
    sent = Sent()
    asyncio.run(AdmissionGate(application)(scope, receive, sent))
    return sent


async def nobody(scope: Scope, receive: Receive, send: Send) -> None:
    raise AssertionError("the site was asked")


async def fine(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "MOST_AT_ONCE", 0)


def test_the_gate_stands_where_questions_are_asked() -> None:
    gates = (admission_gate.FORM, admission_gate.STREAM, admission_gate.API)
    assert gates == (reverse("ask"), reverse("answer_stream"), reverse("api_answer"))


@pytest.mark.usefixtures("full")
def test_a_question_beyond_the_places_is_turned_away_unread() -> None:
    by_program, by_page = asked(nobody, request("/api/v1/answer")), asked(nobody, request("/ask/stream/"))

    for sent in (by_program, by_page):
        assert sent.status == 503
        assert 5 <= int(sent.headers["retry-after"]) <= 15
        assert sent.headers["cache-control"] == "private, no-store"
    assert by_program.headers["content-type"] == "application/problem+json"
    assert json.loads(by_program.body)["status"] == 503
    assert "ask it again in a few seconds" in by_page.body


@pytest.mark.usefixtures("full")
def test_without_scripts_the_question_and_its_scope_are_kept_on_a_page_that_asks_again() -> None:
    sent = asked(nobody, request("/", size=len(FORM)), sends(FORM))

    assert sent.status == 503
    assert "Is 5 &lt; 6 &amp; &quot;so&quot;?</textarea>" in sent.body
    assert '<input type="hidden" name="year_min" value="2019">' in sent.body
    assert '<input type="hidden" name="csrfmiddlewaretoken" value="abc">' in sent.body
    assert "default-src 'none'" in sent.headers["content-security-policy"]


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("origin", ["https://elsewhere.example", "null", ""])
def test_nobody_puts_words_on_that_page_from_another_site(origin: str) -> None:
    sent = asked(nobody, request("/", origin=origin, size=len(FORM)))

    assert sent.status == 503
    assert "Go back" in sent.body


@pytest.mark.usefixtures("full")
def test_other_requests_are_served_however_many_questions_there_are() -> None:
    for scope in (request("/", "GET"), request("/answers/"), request("/api/v1/retrieve")):
        assert asked(fine, scope).status == 200


def test_those_who_are_turned_away_are_not_told_to_come_back_together() -> None:
    assert len({admission.retry_after() for _ in range(200)}) > 5


def test_a_request_that_was_let_in_answers_in_its_own_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "MOST_AT_ONCE", 1)

    async def answering(scope: Scope, receive: Receive, send: Send) -> None:
        assert not admission.is_full()
        with admission.admitted():
            await fine(scope, receive, send)

    for _ in range(3):
        assert asked(answering, request("/ask/stream/")).status == 200


def test_the_place_of_who_went_away_is_free_when_the_answer_has_ended_and_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "MOST_AT_ONCE", 1)
    ends = threading.Event()

    def pieces() -> Any:
        with admission.admitted():
            yield "first"
            ends.wait(10)

    async def left_early(scope: Scope, receive: Receive, send: Send) -> None:
        stream = in_a_thread(pieces)
        assert await anext(stream) == "first"
        await stream.aclose()

    asked(left_early, request("/ask/stream/"))
    away = asked(nobody, request("/ask/stream/"))
    ends.set()
    for thread in threading.enumerate():
        if thread.name == "answer-stream":
            thread.join(10)

    assert away.status == 503
    assert asked(fine, request("/ask/stream/")).status == 200
