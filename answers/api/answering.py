"""Answering by key: the same events as everywhere, one by one as they happen, or put together at the end."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, Literal

import structlog
from django.http import HttpResponse, StreamingHttpResponse
from pydantic import Field
from rest_framework.request import Request

from answers import admission, engine, writers
from answers.api.shapes import AnswerTold
from answers.events import AnswerEvent, EventName
from answers.hearing import Heard
from answers.streaming import in_a_thread
from corpus import connections
from corpus.api.problems import Code, Problem, invalid
from corpus.api.requests import read_body
from corpus.api.schema import Operation, describes
from corpus.api.views import ApiView, reply
from corpus.keys.permissions import Permission
from retrieval.api.asking import QueryAsked
from retrieval.request import InvalidRequest, checked_question

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)

EVENT_STREAM = "text/event-stream"
_EVENT = {
    "type": "object",
    "required": ["event", "data"],
    "properties": {
        "event": {"type": "string", "enum": [str(name) for name in EventName]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
}
# Whoever may ask on the pages may ask by key.
RIGHT = "answers.add_answer"
_BUSY = "As many questions are being answered as this site answers at once."


Order = Callable[[], Generator[AnswerEvent, None, None]]


class AnswerAsked(QueryAsked):
    """A question to be answered."""

    engine: Literal["model", "extractive"] | None = Field(
        default=None, description="Who writes; left out, the language model where there is one."
    )
    stream: bool = Field(default=False, description="Send the events as they happen.")


class AnswerView(ApiView):
    """Answering."""

    permissions = {"POST": Permission.ANSWER}

    @describes(
        Operation(
            "answer",
            "Answer a question from the corpus, with a citation for each claim",
            AnswerTold,
            "Asking",
            more=(
                "Where `stream` is true or `text/event-stream` is accepted, the events are sent as they "
                "happen: `retrieval_started`, `retrieval_done`, `compression_done`, `generation_started`, "
                "`delta`, `citations`, then `done` or `error`. Closing the connection stops the model. "
                "Retracted works are left out unless `scope.exclude_retracted` is false."
            ),
            body=AnswerAsked,
            codes=(Code.GENERATION_FAILED, Code.LLM_UNAVAILABLE),
            also={(200, EVENT_STREAM): _EVENT},
        )
    )
    def post(self, request: Request) -> HttpResponse | StreamingHttpResponse:
        """Answer, within what the key may see."""
        self.require_right(RIGHT)
        asked = read_body(request, AnswerAsked)
        if admission.is_full():
            raise busy()
        told = order_of(asked, self.caller.user)
        if asked.stream or EVENT_STREAM in request.headers.get("Accept", ""):
            return _streamed(told)
        return reply(_whole(told))


def order_of(asked: AnswerAsked, user: User) -> Order:
    """Return what `user` asks for, once it is known that it can be; raise a `Problem` when it cannot."""
    try:
        checked_question(asked.query)
        writers.choose(asked.engine)
    except InvalidRequest as error:
        raise invalid(str(error), where="query") from None
    except writers.EngineUnavailable as error:
        raise Problem(Code.LLM_UNAVAILABLE, str(error)) from None
    requested = asked.scope.requested(exclude_retracted=True)

    def order() -> Generator[AnswerEvent, None, None]:
        return engine.ask(
            question=asked.query,
            requested=requested,
            by=user,
            profile=asked.profile,
            limit=asked.top_k,
            engine=asked.engine,
        )

    return order


def _whole(order: Order) -> AnswerTold:
    """Hear the answer to its end; raise a problem for one that nobody wrote."""
    heard = Heard()
    try:
        with admission.admitted(), contextlib.closing(order()) as events:
            for event in events:
                heard.hear(event)
    except admission.Full:
        raise busy() from None
    if heard.error:
        raise failed(heard.error)
    return AnswerTold.model_validate(heard.as_dict())


def failed(error: dict[str, Any]) -> Problem:
    """Return the problem of an answer that broke off. What was written of it is kept under its id."""
    more = {"reason": error["code"], "answer_id": error["answer"], "offer": error["offer"]}
    code = Code.INTERNAL_ERROR if error["code"] == Code.INTERNAL_ERROR else Code.GENERATION_FAILED
    return Problem(code, error["message"], more=more)


def _streamed(order: Order) -> StreamingHttpResponse:
    # The request lasts as long as its stream, which has connections of its own.
    connections.release()
    response = StreamingHttpResponse(in_a_thread(lambda: _messages(order)), content_type=EVENT_STREAM)
    response["X-Accel-Buffering"] = "no"
    return response


def _messages(order: Order) -> Iterator[str]:
    """Yield the events as they are sent. What fails is an event too: nothing is raised into a response."""
    try:
        with admission.admitted(), contextlib.closing(order()) as events:
            for event in events:
                yield _message(event)
    except admission.Full:
        yield _message(_broken(busy().code, _BUSY))
    except Exception as error:
        logger.exception("api.stream_failed")
        yield _message(_broken(Code.INTERNAL_ERROR, f"The error is of the type {type(error).__name__}."))


def _message(event: AnswerEvent) -> str:
    # JSON has no line ends of its own, so the data of an event is one line.
    return f"event: {event.name}\ndata: {json.dumps(event.data, ensure_ascii=False, default=str)}\n\n"


def _broken(code: Code, message: str) -> AnswerEvent:
    return AnswerEvent(EventName.ERROR, {"code": str(code), "message": message})


def busy() -> Problem:
    wait = {"Retry-After": str(admission.RETRY_AFTER_SECONDS)}
    return Problem(Code.LLM_UNAVAILABLE, _BUSY, headers=wait)
