"""The client against a server that misbehaves: what is tried again, what is raised, what is never shown."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

from sci_rag_site import client as library
from sci_rag_site.client import Client, Scope
from sci_rag_site.client.calls import Client as Calls
from tests.loopback.scripted_server import Line, ScriptedServer

KEY = "sr_abcdefgh_" + "canaryofthekey" * 3 + "x"
ID = "00000000-0000-4000-8000-000000000001"
OK = Line(body=b'{"status": "ok"}')


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def client(server: ScriptedServer, pauses: list[float]) -> Iterator[Client]:
    with Client(server.address, KEY, timeout=0.5) as made:
        made._connection._sleep = pauses.append
        yield made


def problem(status: int, code: str, *, headers: dict[str, str] | None = None, **more: Any) -> Line:
    body = {"type": "urn:x", "title": "t", "status": status, "detail": "It is so.", "code": code, **more}
    return Line(
        status,
        json.dumps(body).encode(),
        {"Content-Type": "application/problem+json", "X-Request-ID": "abc123", **(headers or {})},
    )


def test_the_library_needs_no_django() -> None:
    code = (
        "import sys, sci_rag_site.client, sci_rag_site.client.webhooks\n"
        "print([name for name in sys.modules if name.partition('.')[0] in ('django', 'rest_framework')])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_a_request_carries_the_key_and_what_was_asked(client: Client, server: ScriptedServer) -> None:
    server.will(Line(body=b'{"count": 0, "page": 2, "page_size": 5, "items": []}'))

    page = client.documents(q="straw & chaff", year_min=2000, page=2, page_size=5)

    (asked,) = server.asked
    assert (page.count, page.page) == (0, 2)
    assert asked.path == "/api/v1/documents?q=straw+%26+chaff&year_min=2000&page=2&page_size=5"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert "cookie" not in asked.headers


def test_a_scope_keeps_what_is_missing_apart_from_what_is_empty(
    client: Client, server: ScriptedServer
) -> None:
    server.will(problem(422, "invalid_request"))

    for scope in (None, Scope(), Scope(license_classes=[]), Scope(buckets=("a",), exclude_retracted=False)):
        with pytest.raises(library.InvalidRequest):
            client.query("x", scope=scope)

    sent = [json.loads(asked.body).get("scope", "none") for asked in server.asked]
    assert sent == ["none", {}, {"license_classes": []}, {"buckets": ["a"], "exclude_retracted": False}]


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "missing_key", library.InvalidKey), (401, "invalid_key", library.InvalidKey),
        (403, "insufficient_scope", library.InsufficientScope), (404, "not_found", library.NotFound),
        (422, "invalid_request", library.InvalidRequest), (500, "internal_error", library.ServerError),
        (405, "method_not_allowed", library.ApiError), (502, "generation_failed", library.GenerationFailed),
        (503, "llm_unavailable", library.ModelUnavailable), (599, "new_code", library.ServerError),
    ],
)  # fmt: skip
def test_a_problem_is_an_exception_of_its_code(
    client: Client, server: ScriptedServer, status: int, code: str, kind: type[library.ApiError]
) -> None:
    errors = [{"field": "query", "message": "too short"}]
    server.will(problem(status, code, errors=errors, answer_id="a1"))

    with pytest.raises(kind) as raised:
        client.answer("x")

    error = raised.value
    assert (error.status, error.code, error.request_id, error.errors) == (status, code, "abc123", errors)
    assert error.more == {"answer_id": "a1"}
    assert str(error) == f"{status} {code}: It is so. (request abc123)"
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [429, 503])
def test_a_safe_call_waits_as_it_is_asked_to(
    client: Client, server: ScriptedServer, pauses: list[float], status: int
) -> None:
    server.will(problem(status, "rate_limited", headers={"Retry-After": "7"}), OK)

    assert client.health().status == "ok"
    assert pauses == [7.0]
    assert len(server.asked) == 2


def test_a_safe_call_waits_longer_each_time_and_gives_up(
    client: Client, server: ScriptedServer, pauses: list[float]
) -> None:
    server.will(problem(503, "llm_unavailable"))

    with pytest.raises(library.ModelUnavailable):
        client.query("x")

    assert len(server.asked) == 3
    assert 0 < pauses[0] < pauses[1] < 2


def test_a_wait_that_is_too_long_is_the_callers_to_decide(
    client: Client, server: ScriptedServer, pauses: list[float]
) -> None:
    server.will(problem(429, "rate_limited", headers={"Retry-After": "3600"}))

    with pytest.raises(library.RateLimited) as raised:
        client.status()

    assert raised.value.retry_after == 3600
    assert (pauses, len(server.asked)) == ([], 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.answer("x"),
        lambda client: client.stream("x"),
        lambda client: client.keep_note("x"),
        lambda client: client.ingest([]),
    ],
)
@pytest.mark.parametrize(
    "line",
    [problem(503, "llm_unavailable", headers={"Retry-After": "1"}), Line(502, b"<html>"), Line(cut=True)],
)
def test_what_changes_something_is_sent_once(
    client: Client, server: ScriptedServer, pauses: list[float], call: Any, line: Line
) -> None:
    server.will(line)

    with pytest.raises(library.ClientError):
        list(call(client))

    assert (pauses, len(server.asked)) == ([], 1)


def test_a_site_that_hangs_or_breaks_off_is_asked_again_where_that_is_safe(
    client: Client, server: ScriptedServer
) -> None:
    server.will(Line(wait=30), Line(cut=True), OK)

    assert client.health().status == "ok"
    server.will(Line(wait=30))
    started = time.monotonic()
    with pytest.raises(library.TimedOut):
        client.health()
    assert time.monotonic() - started < 10


def test_nobody_there_is_said_so() -> None:
    with Client("http://127.0.0.1:1", KEY, retries=0) as client, pytest.raises(library.ConnectionFailed):
        client.health()


@pytest.mark.parametrize(
    "line",
    [
        Line(body=b"<html>wifi</html>", headers={"Content-Type": "text/html"}),
        Line(body=b'{"status": "fine"}'),
        Line(404, b"<html>not here</html>"),
        Line(400, b"[]"),
        Line(302, b"", {"Location": "https://elsewhere.example/"}),
    ],
)
def test_what_is_no_answer_of_the_api_is_said_so(client: Client, server: ScriptedServer, line: Line) -> None:
    server.will(line)

    with pytest.raises(library.BadAnswer):
        client.health()

    assert len(server.asked) == 1


@pytest.mark.parametrize("address", ["http://papers.example.org", "http://10.0.0.1", "ftp://127.0.0.2"])
def test_a_key_is_not_sent_without_encryption(address: str) -> None:
    with pytest.raises(ValueError, match="https only"):
        Client(address, KEY)


@pytest.mark.parametrize("key", ["", "a b", "ключ", "a\nb"])
def test_what_is_no_key_is_not_sent(key: str) -> None:
    with pytest.raises(ValueError, match="no key"):
        Client("https://papers.example.org", key)


def test_the_key_is_in_no_repr_and_no_traceback(client: Client, server: ScriptedServer) -> None:
    shown = [repr(client), str(client), repr(client._connection), repr(client._connection._client.headers)]
    for line in (problem(401, "invalid_key"), Line(cut=True), Line(body=b"x")):
        server.will(line)
        try:
            Calls.answer(client, "x")
        except library.ClientError as error:
            shown += ["".join(traceback.format_exception(error)), repr(error), str(vars(error))]
            if isinstance(error, library.BadAnswer):
                shown.append(str(pickle.dumps(error)))

    assert "canaryofthekey" not in "".join(shown)


def events(*pieces: bytes, cut: bool = False) -> Line:
    return Line(pieces=pieces, headers={"Content-Type": "text/event-stream", "X-Request-ID": "s1"}, cut=cut)


STREAM = (
    'event: retrieval_started\ndata: {"answer": "a"}\n\n: nothing\n\n'
    'event: delta\r\ndata: {"text": "Stroh\u2028 é\u0085 "}\r\n\r\n'
    'event: delta\ndata: {"text": "[1]."}\n\nevent: done\ndata: {"answered": true}\n\n'
).encode()


@pytest.mark.parametrize("size", [1, 2, 7, 1_000])
def test_events_come_in_their_order_however_the_bytes_are_cut(
    client: Client, server: ScriptedServer, size: int
) -> None:
    server.will(events(*(STREAM[place : place + size] for place in range(0, len(STREAM), size))))

    with client.stream("x") as answer:
        heard = list(answer)

    assert [event.name for event in heard] == ["retrieval_started", "delta", "delta", "done"]
    assert answer.text == "".join(event.text for event in heard) == "Stroh\u2028 é\u0085 [1]."
    assert answer.ending == heard[-1]
    assert answer.request_id == "s1"
    assert json.loads(server.asked[0].body)["stream"] is True


@pytest.mark.parametrize("cut", [True, False])
def test_a_stream_that_does_not_say_how_it_ended_is_broken(
    client: Client, server: ScriptedServer, cut: bool
) -> None:
    server.will(events(b'event: delta\ndata: {"text": "a"}\n\n', cut=cut))

    with client.stream("x") as answer, pytest.raises(library.StreamBroken, match="s1"):
        list(answer)

    assert answer.text == "a"


def test_an_error_ends_a_stream_and_keeps_what_was_written(client: Client, server: ScriptedServer) -> None:
    server.will(
        events(b'event: delta\ndata: {"text": "a"}\n\nevent: error\ndata: {"code": "generation_failed"}\n\n')
    )

    with client.stream("x") as answer:
        heard = list(answer)

    assert (answer.text, heard[-1].data["code"]) == ("a", "generation_failed")


def test_what_is_no_event_is_said_so(client: Client, server: ScriptedServer) -> None:
    server.will(events(b"event: delta\ndata: {oops\n\n"))

    with client.stream("x") as answer, pytest.raises(library.BadAnswer):
        list(answer)


def test_an_id_that_is_none_is_not_asked_for(client: Client, server: ScriptedServer) -> None:
    server.will(OK)

    with pytest.raises(ValueError, match="UUID"):
        client.document("../notes")

    assert server.asked == []
