"""Answering for a tool: progress as it happens, the whole at the end; the model stops when nobody waits."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, closing
from typing import Any

from django.contrib.auth.models import User

from answers import admission
from answers.api.answering import RIGHT, AnswerAsked, Order, busy, failed, order_of
from answers.api.shapes import AnswerTold
from answers.events import AnswerEvent, EventName
from answers.hearing import Heard
from answers.streaming import in_a_thread
from corpus import connections
from corpus.api.problems import Code, Problem
from sci_rag_site.mcp.inputs import AnswerInput

Report = Callable[[str], Awaitable[None]]
# Pieces of text come many a second; nobody reads progress that fast.
_BETWEEN_REPORTS = 1.0
_STEPS = {
    EventName.RETRIEVAL_STARTED: "Searching",
    EventName.COMPRESSION_DONE: "Sources condensed",
    EventName.GENERATION_STARTED: "Writing",
    EventName.CITATIONS: "Citations checked",
}


async def answered(user: User, asked: AnswerInput, report: Report) -> dict[str, Any]:
    """Return the answer, once it is written; cancelled, it closes the model's stream and keeps what came.

    Raises a `Problem` where none was written.
    """
    heard, written, reported = Heard(), 0, 0.0
    async with aclosing(in_a_thread(lambda: _told(user, asked))) as told:
        async for line in told:
            event = AnswerEvent(**json.loads(line))
            heard.hear(event)
            if event.name == EventName.DELTA:
                written += len(event.data["text"])
                if time.monotonic() - reported > _BETWEEN_REPORTS:
                    reported = time.monotonic()
                    await report(f"Writing: {written} characters")
            elif words := _words(event):
                await report(words)
    if heard.error:
        raise failed(heard.error)
    return AnswerTold.model_validate(heard.as_dict()).model_dump(mode="json")


def _told(user: User, asked: AnswerInput) -> Iterator[str]:
    """Yield each event as a line: what crosses threads is text."""
    if not user.has_perm(RIGHT):
        raise Problem(Code.INSUFFICIENT_SCOPE, "The account may not have questions answered.")
    order: Order = order_of(AnswerAsked(**dict(asked)), user)
    connections.release()
    try:
        with admission.admitted(), closing(order()) as events:
            for event in events:
                yield json.dumps({"name": event.name, "data": event.data}, default=str)
    except admission.Full:
        raise busy() from None


def _words(event: AnswerEvent) -> str:
    if event.name == EventName.RETRIEVAL_DONE:
        return f"{len(event.data['sources'])} sources found"
    return _STEPS.get(EventName(event.name), "")
