"""An answer while it is made: the engine's events as pieces of the page, in the order they happen."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import structlog
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from answers import admission, condensed_words, pages, reading, withheld_words
from answers.events import AnswerEvent, EventName
from answers.models import EXTRACTIVE, Answer
from answers.turns import ALONE, Turn
from corpus import connections
from corpus.event_stream import message, partial
from corpus.scope import RetrievalScope

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Order:
    """A question as somebody asked it."""

    question: str
    requested: RetrievalScope
    by: User
    profile: str = "interactive"
    engine: str | None = None
    turn: Turn = ALONE


def answered(order: Order) -> Answer:
    """Ask and wait: the answer as it was stored. Raises `admission.Full`."""
    from answers import engine

    with admission.admitted():
        return engine.answer(
            question=order.question,
            requested=order.requested,
            by=order.by,
            profile=order.profile,
            engine=order.engine,
            turn=order.turn,
        )


def messages(order: Order) -> Iterator[str]:
    """Ask and yield server-sent events that build the page. Whatever fails is said on the page.

    Nothing is raised: a response that breaks after its start is never closed, and keeps what it holds.
    """
    view = _View(order)
    try:
        with admission.admitted():
            yield from _told(view)
    except admission.Full:
        # Free when the request came, taken since.
        yield message(render_to_string("answers/stream.html#busy"))
    except Exception:
        log.exception("answer.stream_failed", answer_id=view.answer_id)
        trouble = render_to_string("answers/stream.html#trouble")
        yield message(partial("#answer", trouble, "outerHTML") if view.answer_id else trouble)
        yield message(announce(_("Something went wrong")))


def _told(view: _View) -> Iterator[str]:
    from answers import engine

    order = view.order
    events = engine.ask(
        question=order.question,
        requested=order.requested,
        by=order.by,
        profile=order.profile,
        engine=order.engine,
        turn=order.turn,
    )
    with contextlib.closing(events):
        for event in events:
            yield from (message(piece) for piece in view.pieces(event))


def _reached(answer: Answer) -> str:
    """Return how far the stages came: a refusal is a result, and not an answer that ended early."""
    if answer.state != Answer.State.DONE:
        return "ended"
    return "refused" if answer.finish in {Answer.Finish.NOT_COVERED, Answer.Finish.NO_SOURCES} else "done"


def announce(text: str) -> SafeString:
    """Say `text` to people who hear the page."""
    return partial("#status", text)


@dataclass
class _View:
    order: Order
    answer_id: str = ""

    def pieces(self, event: AnswerEvent) -> Iterator[str]:
        """Yield what changes on the page because of `event`."""
        if not self.answer_id:
            self.answer_id = str(event.data["answer"])
            context = {
                "question": self.order.question,
                "answer_id": self.answer_id,
                "follows": self.order.turn.follows,
            }
            yield render_to_string("answers/stream.html#started", context)
        match event.name:
            case EventName.RETRIEVAL_STARTED:
                yield announce(_("Searching"))
            case EventName.STANDALONE_QUESTION:
                yield self._searched_as()
            case EventName.RETRIEVAL_DONE:
                yield from self._sources()
            case EventName.COMPRESSION_DONE:
                yield partial("#condensed", condensed_words.line(event.data))
            case EventName.GENERATION_STARTED:
                yield from self._writing(event)
            case EventName.DELTA:
                yield partial("#draft", str(event.data["text"]), "beforeend")
            case EventName.CITATIONS:
                yield self._stage("check")
            case EventName.DONE | EventName.ERROR:
                yield from self._ending()

    def _writing(self, event: AnswerEvent) -> Iterator[str]:
        yield self._stage("write")
        alone = event.data["engine"] == EXTRACTIVE
        if line := withheld_words.line(event.data["withheld"], is_quoted_alone=alone):
            yield partial("#withheld", line)

    def _stage(self, name: str) -> SafeString:
        return partial("#stages", render_to_string("answers/stream.html#stages", {"reached": name}))

    def _searched_as(self) -> SafeString:
        answer = Answer.objects.get(id=self.answer_id)
        connections.release()
        told = render_to_string("components/searched_as.html", {"answer": answer, "live": True})
        return partial("#searched-as", told, "outerHTML")

    def _sources(self) -> Iterator[str]:
        shown = self._readable()
        count = len(shown.sources)
        context = {"cited": (), "uncited": shown.sources, "finished": False}
        yield partial("#sources", render_to_string("components/sources_panel.html", context), "outerHTML")
        yield self._stage("read")
        found = ngettext("%(n)s source found", "%(n)s sources found", count) % {"n": count}
        yield announce(found)

    def _ending(self) -> Iterator[str]:
        page = pages.page_of(self._readable())
        shown = page.shown
        context = {"page": page, "live": True, "searched": page.searched}
        sources = {"cited": shown.cited, "uncited": shown.uncited, "finished": True}
        yield partial("#answer", render_to_string("components/answer_body.html", context), "outerHTML")
        yield partial("#sources", render_to_string("components/sources_panel.html", sources), "outerHTML")
        yield partial("#searched", render_to_string("components/searched.html", context), "outerHTML")
        if self.order.turn.follows is None:
            after = render_to_string("answers/stream.html#after", {"answer_id": self.answer_id})
            yield partial("#after", after, "beforeend")
        else:
            # The next follow-up leans on this turn.
            yield partial(
                "#follows", render_to_string("components/follows.html", {"answer": shown.answer}), "outerHTML"
            )
        yield self._stage(_reached(shown.answer))
        cited = len(shown.cited)
        ready = ngettext("Answer ready, %(n)s source cited", "Answer ready, %(n)s sources cited", cited)
        yield announce(page.notice.title if page.notice else ready % {"n": cited})

    def _readable(self) -> reading.ReadableAnswer:
        shown = reading.readable(Answer.objects.get(id=self.answer_id), self.order.by)
        if shown is None:
            raise Answer.DoesNotExist
        return shown
