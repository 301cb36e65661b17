"""Logs hold ids and numbers, never what people wrote or documents say."""

from __future__ import annotations

import io
import json
import logging
import logging.config
import re
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from django.core.exceptions import TooManyFieldsSent
from django.http.multipartparser import MultiPartParserError

from sci_rag_site import logging as site_logging

CANARY = "canary-5f1e"


class Sink:
    """Where the site's logs go during a test."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]


@pytest.fixture
def sink() -> Iterator[Sink]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    made = Sink()
    configuration = site_logging.configuration(level="INFO", form="json")
    configuration["handlers"]["stderr"]["stream"] = made.stream
    logging.config.dictConfig(configuration)
    yield made
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.parametrize("key", sorted(site_logging.CONTENT_KEYS))
def test_content_under_its_usual_names_is_dropped_and_named(sink: Sink, key: str) -> None:
    structlog.get_logger("test").info("answer.made", sources=3, **{key: CANARY})

    assert CANARY not in sink.stream.getvalue()
    assert sink.events[0]["dropped"] == [key]
    assert sink.events[0]["sources"] == 3


def test_an_exception_is_logged_by_type_and_place_not_by_what_it_says(sink: Sink) -> None:
    def inner() -> None:
        raise ValueError(f"invalid input syntax: {CANARY}")

    try:
        try:
            inner()
        except ValueError as error:
            raise RuntimeError(CANARY) from error
    except RuntimeError:
        structlog.get_logger("test").exception("layer.failed", layer="keyword")
        logging.getLogger("django.request").exception("Internal Server Error: %s", "/ask/")

    assert CANARY not in sink.stream.getvalue()
    for event in sink.events:
        assert [item["type"] for item in event["exception"]] == [
            "builtins.RuntimeError",
            "builtins.ValueError",
        ]
        assert "inner" in event["exception"][1]["at"][-1]


def test_one_event_is_one_line_whatever_it_holds(sink: Sink) -> None:
    structlog.get_logger("test").info(
        "file.refused", name='a\r\n{"event": "forged"}\x1b[31m\u2028', code="x" * 5000
    )
    logging.getLogger("other").warning("Invalid HTTP_HOST header: %s", "evil\nforged")

    assert len(sink.events) == 2
    assert "\x1b" not in sink.stream.getvalue()
    assert len(sink.events[0]["code"]) < 1000


HOSTILE = (
    "a\r\nb", "\n\n", "\r", '"}\n{"event": "forged"}', "\x1b[2J\x1b[31m", "\x00", "\u2028\u2029", "\x85",
    "\x0b\x0c", "\ud800", "%s %d %(x)s", "{}{0}", "\\n", "\u202e", "\u200b", "a" * 10_000, "\x7f\x80\x9b",
    "\ufeff", "\t", "<script>",
)  # fmt: skip


def test_no_field_of_twenty_ends_its_line_or_begins_another(sink: Sink) -> None:
    assert len(HOSTILE) == 20
    for number, value in enumerate(HOSTILE):
        structlog.get_logger("test").info(
            "file.refused", name=value, number=number, **{f"field{number}": value}
        )
        logging.getLogger("other").warning("Invalid name: %s", value)

    written = sink.stream.getvalue()
    assert len(sink.events) == 2 * len(HOSTILE)
    assert [event["number"] for event in sink.events[::2]] == list(range(20))
    assert {event["event"] for event in sink.events[::2]} == {"file.refused"}
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", written)


def test_access_logs_whose_addresses_hold_questions_are_off(sink: Sink) -> None:
    logging.getLogger("uvicorn.access").info(
        '%s - "%s %s HTTP/%s" %d', "127.0.0.1", "GET", f"/?q={CANARY}", "1.1", 200
    )
    logging.getLogger("django.server").error("GET /?q=%s", CANARY)
    logging.getLogger("httpx").info("HTTP Request: GET https://example.org/?q=%s", CANARY)
    logging.getLogger("LiteLLM").error("prompt was %s", CANARY)

    assert sink.stream.getvalue() == ""


def test_a_failed_task_is_named_without_what_it_raised(sink: Sink) -> None:
    record = {"data": {"name": "site.heartbeat", "id": "4711", "exc": CANARY, "args": CANARY}}

    logging.getLogger("celery.app.trace").error("Task raised: %s", CANARY, extra=record)

    assert CANARY not in sink.stream.getvalue()
    assert sink.events[0]["event"] == "task.failed site.heartbeat 4711"


def test_the_request_id_is_on_every_event(sink: Sink) -> None:
    with structlog.contextvars.bound_contextvars(request_id="abc"):
        structlog.get_logger("test").info("answer.made")
        logging.getLogger("elsewhere").warning("something")

    assert [event["request_id"] for event in sink.events] == ["abc", "abc"]


def test_a_person_at_a_terminal_gets_lines_to_read() -> None:
    formatter = site_logging.configuration(level="INFO", form="console")["formatters"]["events"]

    # The last cuts keys off in the line that was made.
    assert isinstance(formatter["processors"][-2], structlog.dev.ConsoleRenderer)


def test_what_anybody_can_send_is_no_error_of_ours(sink: Sink) -> None:
    refusal = TooManyFieldsSent("The number of GET/POST parameters exceeded a limit.")

    logging.getLogger("django.security.TooManyFieldsSent").error(str(refusal), exc_info=refusal)

    assert [(event["level"], "exception" in event) for event in sink.events] == [("warning", False)]


@pytest.mark.parametrize(("level", "told"), [("warning", False), ("error", True)])
def test_a_refused_request_is_logged_without_the_place_where_that_was_noticed(
    sink: Sink, level: str, *, told: bool
) -> None:
    error = MultiPartParserError("Invalid boundary in multipart: None")

    getattr(logging.getLogger("django.request"), level)("%s", "/documents/upload/", exc_info=error)

    assert [(event["level"], "exception" in event) for event in sink.events] == [(level, told)]
