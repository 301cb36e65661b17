"""The language model gateway: the real litellm against a provider on the loopback range."""

import logging
import time
from collections.abc import Generator, Iterator

import pytest
from django.db import transaction

from corpus.connections import ConnectionHeld
from corpus.egress import NOTHING_HELD
from corpus.gateways.llm import LONGEST_REPLY, ChatModel, LiteLLMChat, ModelError, Usage, chat_model
from corpus.usage.purposes import Purpose
from tests.loopback.fixtures import KEY_CANARY, forget_clients
from tests.loopback.openai_server import (
    EMPTY,
    HANGS,
    HTML,
    NOT_JSON,
    OpenAIServer,
    Reply,
    fails,
    says,
)

DEADLINE = 1.5


@pytest.fixture
def model(model_server: OpenAIServer) -> ChatModel:
    return LiteLLMChat(model="openai/test-model", api_base=model_server.base_url, api_key=KEY_CANARY)


@pytest.fixture(scope="module", autouse=True)
def _warm() -> Iterator[None]:
    """Load litellm and what it loads at its first call, and close its connections in the end."""
    with OpenAIServer() as server:
        server.will(says("Ready."))
        chat = LiteLLMChat(model="openai/x", api_base=server.base_url, api_key="k")
        list(chat.stream(system="", user="", purpose=Purpose.PROBE, carries=NOTHING_HELD))
    yield
    forget_clients()


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpus.gateways.llm._PAUSE", 0.01)


def ask(model: ChatModel, timeout: float = DEADLINE) -> Generator[str | Usage, None, None]:
    return model.stream(
        system="You answer.",
        user="A question?",
        purpose=Purpose.ANSWER,
        carries=NOTHING_HELD,
        timeout=timeout,
    )


def outcome(model: ChatModel) -> tuple[str, ModelError | None]:
    text, error = "", None
    try:
        for piece in ask(model):
            text += piece if isinstance(piece, str) else ""
    except ModelError as raised:
        error = raised
    return text, error


def test_no_model_is_configured_by_default() -> None:
    assert chat_model() is None


def test_text_arrives_in_pieces_and_usage_last(model: ChatModel, model_server: OpenAIServer) -> None:
    model_server.will(says("Straw gives ", "210 L/kg ", "[1].", pause=0.12))

    pieces = list(ask(model))

    assert pieces[:-1] == ["Straw gives ", "210 L/kg ", "[1]."]
    assert pieces[-1] == Usage(prompt_tokens=11, completion_tokens=7, cost_usd=None)


def test_tokens_that_arrive_faster_than_anybody_reads_are_handed_over_together(
    model: ChatModel, model_server: OpenAIServer
) -> None:
    tokens = [f"{number} " for number in range(200)]
    model_server.will(says(*tokens, pause=0.002))

    *pieces, usage = ask(model)

    assert "".join(map(str, pieces)) == "".join(tokens)
    assert 1 < len(pieces) < 50
    assert usage == Usage(prompt_tokens=11, completion_tokens=7, cost_usd=None)


def test_the_request_carries_the_configured_key_and_no_tools(
    model: ChatModel, model_server: OpenAIServer
) -> None:
    model_server.will(says("Yes [1]."))

    list(ask(model))

    (request,) = model_server.requests
    assert request.headers["authorization"] == f"Bearer {KEY_CANARY}"
    assert request.body["model"] == "test-model"
    assert request.body["temperature"] == 0
    assert not {"tools", "functions"} & set(request.body)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (HANGS, "timeout"),
        (says("Some ", ending="silence"), "timeout"),
        (Reply(pieces=("drip",) * 500, pause=0.1), "timeout"),
        (fails(400), "rejected"),
        (fails(401), "rejected"),
        (fails(403), "rejected"),
        (fails(404), "rejected"),
        (fails(408), "timeout"),
        (fails(413), "rejected"),
        (fails(422), "rejected"),
        (fails(429), "rate_limited"),
        (fails(429, headers={"Retry-After": "0"}), "rate_limited"),
        (fails(429, headers={"Retry-After": "1000000000"}), "rate_limited"),
        (fails(429, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}), "rate_limited"),
        (fails(500), "unavailable"),
        (fails(502), "unavailable"),
        (fails(503), "unavailable"),
        (fails(529), "unavailable"),
        (HTML, "garbage"),
        (EMPTY, "garbage"),
        (NOT_JSON, "garbage"),
        (Reply(raw_events=('{"choices": []}',)), "garbage"),
        (Reply(raw_events=('{"error": {"message": "overloaded", "code": 500}}',)), "unavailable"),
        (says(), "garbage"),
        (says(ending="tool_calls"), "garbage"),
        (says("Half of ", ending="cut"), "unavailable"),
        (says("Half of ", ending="reset"), "unavailable"),
        (says("Half of ", ending="length"), "cut_off"),
        (says("Half of ", ending="content_filter"), "rejected"),
    ],
)
def test_every_failure_has_a_code_in_bounded_time_and_keeps_what_arrived(
    model: ChatModel, model_server: OpenAIServer, reply: Reply, code: str
) -> None:
    model_server.will(reply)
    started = time.monotonic()

    text, error = outcome(model)

    assert error is not None
    assert error.code == code
    assert time.monotonic() - started < DEADLINE + 1
    assert len(model_server.requests) <= 2
    if reply.pieces:
        assert text.startswith(reply.pieces[0])
        assert len(model_server.requests) == 1, "what has begun to arrive is not asked for twice"


def test_a_refused_connection_is_unavailable(model_server: OpenAIServer) -> None:
    model = LiteLLMChat(model="openai/test-model", api_base="http://127.0.0.1:9/v1", api_key=KEY_CANARY)

    assert getattr(outcome(model)[1], "code", None) == "unavailable"


def test_a_failure_that_passes_is_tried_once_more(model: ChatModel, model_server: OpenAIServer) -> None:
    model_server.will(fails(503), says("Here [1]."))

    assert outcome(model) == ("Here [1].", None)
    assert len(model_server.requests) == 2


def test_an_endless_reply_is_stopped(model: ChatModel, model_server: OpenAIServer) -> None:
    model_server.will(says(*["word " * 1000] * 100))

    text, error = outcome(model)

    assert len(text) == LONGEST_REPLY
    assert error is not None
    assert error.code == "cut_off"


def test_usage_that_makes_no_sense_is_not_recorded(model: ChatModel, model_server: OpenAIServer) -> None:
    nonsense = {"prompt_tokens": -5, "completion_tokens": 3, "total_tokens": -2}
    model_server.will(says("Yes [1].", usage=nonsense))

    last = list(ask(model))[-1]

    assert isinstance(last, Usage)
    assert last.prompt_tokens is None
    assert last.cost_usd is None


def test_a_provider_that_keeps_failing_is_left_alone(model: ChatModel, model_server: OpenAIServer) -> None:
    model_server.will(fails(500))
    for _ in range(3):
        outcome(model)
    asked = len(model_server.requests)

    text, error = outcome(model)

    assert (text, getattr(error, "code", None)) == ("", "unavailable")
    assert len(model_server.requests) == asked == 5


@pytest.mark.parametrize("reply", [fails(401), fails(400), fails(500), HTML, says("x", ending="reset")])
def test_the_key_and_the_prompt_reach_neither_errors_nor_logs(
    model: ChatModel,
    model_server: OpenAIServer,
    reply: Reply,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    model_server.will(reply)
    caplog.set_level(logging.DEBUG)

    _, error = outcome(model)

    printed = capfd.readouterr()
    logs = [
        text for record in caplog.records if "httpcore" not in record.name for text in [record.getMessage()]
    ]
    said = [str(error), repr(error), repr(model), printed.out, printed.err, *logs]
    assert not [text for text in said if KEY_CANARY in text or "A question?" in text]
    assert error is not None
    assert error.__suppress_context__


def test_closing_the_stream_hangs_up(model: ChatModel, model_server: OpenAIServer) -> None:
    model_server.will(says("One ", "two ", ending="silence"))
    stream = ask(model, timeout=30)
    next(stream)
    started = time.monotonic()

    stream.close()

    assert time.monotonic() - started < 1


@pytest.mark.django_db
def test_a_model_is_never_called_inside_a_transaction(model: ChatModel, model_server: OpenAIServer) -> None:
    with transaction.atomic(), pytest.raises(ConnectionHeld):
        next(ask(model))

    assert model_server.requests == []
