"""Pieces of a reply are read alike, as plain JSON or as litellm's own."""

import json

import pytest

from corpus.gateways import raw_stream
from corpus.gateways.litellm_library import litellm
from corpus.gateways.raw_stream import Arrival


def lines(*values: object, done: bool = True) -> list[str]:
    found = [f"data: {value if isinstance(value, str) else json.dumps(value)}" for value in values]
    return [line for event in found for line in (event, "")] + (["data: [DONE]", ""] if done else [])


def delta(text: object, reason: object = None) -> dict[str, object]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": reason}]}


def read(*values: object, done: bool = True) -> list[Arrival]:
    return list(raw_stream._of_lines(iter(lines(*values, done=done))))


def test_text_reason_and_counts_are_taken_from_the_json() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}

    assert read(delta("Rice "), delta("straw", "stop"), usage) == [
        Arrival("Rice "), Arrival("straw", "stop"), Arrival(tokens=(3, 2)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "odd", [{}, {"choices": None}, {"choices": [None]}, {"choices": [{"delta": 1}]}, delta(7)]
)
def test_what_holds_no_text_is_an_empty_piece(odd: object) -> None:
    assert read(odd) == [Arrival()]


def test_comments_and_other_fields_are_passed_over() -> None:
    said = [": keep alive", "event: message", "id: 1", *lines(delta("Yes", "stop"))]

    assert list(raw_stream._of_lines(iter(said))) == [Arrival("Yes", "stop")]


@pytest.mark.parametrize("broken", ["{", "[]", "7", "[" * 50_000])
def test_what_is_no_json_object_is_refused(broken: str) -> None:
    with pytest.raises((ValueError, RecursionError)):
        read(broken)


def test_a_stream_that_breaks_off_and_a_reported_error_are_failures_of_the_connection() -> None:
    with pytest.raises(ConnectionError):
        read(delta("Half of "), done=False)
    with pytest.raises(ConnectionError):
        read({"error": {"message": "overloaded"}})


def test_a_stream_that_has_said_why_it_ends_needs_no_mark_of_the_end() -> None:
    assert read(delta("Yes", "stop"), done=False) == [Arrival("Yes", "stop")]


def test_other_protocols_are_read_by_litellm() -> None:
    response = litellm().completion(
        model="gpt-4o", messages=[{"role": "user", "content": "?"}], mock_response="Rice straw", stream=True
    )

    found = list(raw_stream.arrivals(response))

    assert "".join(arrival.text for arrival in found) == "Rice straw"
    assert found[-1].reason == "stop"
