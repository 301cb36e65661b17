"""From a question to a stored, cited answer, told as it happens.

Scope, retrieval, numbered sources, writing, citations, findings, storage, in that order. The numbered
list is fixed before a word is written. Each state is a short transaction of its own; no connection is
held while a model works. Whatever breaks, what was found and written is kept and marked.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import structlog
from django.db import OperationalError

from answers import (
    admission,
    citations,
    compression,
    condensing,
    evidence,
    findings,
    standing_alone,
    telling,
    writers,
)
from answers.actions import answers as actions
from answers.condensing import Condensed
from answers.events import AnswerEvent, EventName
from answers.models import EXTRACTIVE, MODEL, Answer
from answers.turns import ALONE, Turn
from corpus import ceilings, connections
from corpus.gateways.llm import ModelError, Usage
from corpus.metrics import catalogue
from corpus.models import Chunk
from corpus.scope import RetrievalScope
from corpus.usage import accounts
from corpus.usage.accounts import Account
from retrieval import profiles
from retrieval.request import checked_limit, checked_question
from retrieval.retriever import retrieve
from retrieval.types import DEGRADED, Item, RetrievalResult, StageStatus

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)

NO_SOURCES_TEXT = (
    "Nothing in the documents under this scope speaks to the question, so there is no answer. "
    "A wider scope or other words may find something."
)
_TROUBLE = "Something went wrong while answering."
_CHECKPOINT_SECONDS = 2.0
_FINISHED = {StageStatus.OK, StageStatus.EMPTY}


@dataclass(slots=True)
class _Progress:
    """What has come of an answer so far."""

    answer: Answer
    scope: RetrievalScope
    limit: int
    # Whoever drains the generator may do so in another context than the one it was made in.
    account: Account
    compressed: bool | None = None
    items: tuple[Item, ...] = ()
    parts: list[str] = field(default_factory=list)
    usage: Usage | None = None
    timings: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    saved_at: float = 0.0

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def lap(self, name: str, since: float) -> None:
        self.timings[name] = round((time.monotonic() - since) * 1000, 1)


def ask(
    *,
    question: str,
    requested: RetrievalScope,
    by: User | None,
    profile: str = "interactive",
    limit: int = 8,
    engine: str | None = None,
    compressed: bool | None = None,
    turn: Turn = ALONE,
) -> Generator[AnswerEvent, None, None]:
    """Answer `question` and yield what happens; the first event's data has the answer's id.

    `by=None` is the operator at the command line, who may see everything. `compressed` says whether a model
    reads its sources condensed; None leaves that to the domain profile. Raises `InvalidRequest`,
    `UnknownProfile` or `EngineUnavailable` at once; every later failure is an `error` event of a stored
    answer. Closing the generator stores what was written as cancelled.
    """
    question, limit = checked_question(question), checked_limit(limit)
    profiles.check(profile)
    if turn.searched:
        turn = replace(turn, searched=checked_question(turn.searched))
    chosen = writers.choose(engine)
    # The operator at the command line has no ceiling to meet.
    effective = requested if by is None else ceilings.effective_scope(by, requested)
    answer = actions.begin(
        question=question,
        requested=requested,
        effective=effective,
        by=by,
        profile=profile,
        engine=chosen,
        model=writers.model_name(chosen),
        turn=turn,
    )
    with accounts.charged_to(by, collection=accounts.collection_of(effective)):
        return _told(_Progress(answer, effective, limit, accounts.current(), compressed))


def answer(
    *,
    question: str,
    requested: RetrievalScope,
    by: User | None,
    profile: str = "interactive",
    limit: int = 8,
    engine: str | None = None,
    compressed: bool | None = None,
    turn: Turn = ALONE,
) -> Answer:
    """Answer `question` and return what was stored."""
    told = ask(
        question=question,
        requested=requested,
        by=by,
        profile=profile,
        limit=limit,
        engine=engine,
        compressed=compressed,
        turn=turn,
    )
    first = next(told)
    for _ in told:
        pass
    return Answer.objects.get(pk=first.data["answer"])


def _told(progress: _Progress) -> Generator[AnswerEvent, None, None]:
    """Run the stages; whatever ends them early, leave the row in a final state."""
    try:
        yield from _stages(progress)
    except GeneratorExit:
        _broken_off(progress, Answer.Finish.CANCELLED, "cancelled")
        raise
    except ModelError as failure:
        _broken_off(progress, Answer.Finish.MODEL_FAILED, failure.code)
        yield telling.error(progress.answer, failure.code, str(failure), offer=EXTRACTIVE)
    except Exception as error:  # noqa: BLE001 the border: the row must end, and the asker must know
        finish = Answer.Finish.ABANDONED if progress.items else Answer.Finish.RETRIEVAL_FAILED
        # The class alone: a database error repeats the values it was given.
        logger.error("answer.failed", answer_id=str(progress.answer.pk), error=type(error).__name__)  # noqa: TRY400
        _broken_off(progress, finish, "internal_error")
        offer = EXTRACTIVE if progress.items else None
        yield telling.error(progress.answer, "internal_error", _TROUBLE, offer=offer)


def _stages(progress: _Progress) -> Iterator[AnswerEvent]:
    row = progress.answer
    yield telling.started(row)
    if row.follows_id is not None and not row.rewriting:
        yield _standing_alone(progress)
    result = _retrieved(progress)
    yield telling.retrieved(row, result, progress.items)
    if progress.items:
        yield from _written(progress, result.profile)
    else:
        yield from _without_evidence(progress, result)


def _standing_alone(progress: _Progress) -> AnswerEvent:
    """Make the follow-up searchable by itself, and tell what will be searched."""
    started = time.monotonic()
    row = progress.answer
    earlier = standing_alone.earlier_questions(row)
    connections.release()
    with accounts.held(progress.account):
        made = standing_alone.make(row.question, earlier=earlier, with_model=row.engine == MODEL)
    actions.record_standalone(answer=row, made=made)
    connections.release()
    progress.lap("rewriting", started)
    return telling.standing_alone(row)


def _retrieved(progress: _Progress) -> RetrievalResult:
    started = time.monotonic()
    row = progress.answer
    # The other ways to search may wait for a model, and nobody else waits for that.
    place = admission.at_work() if row.profile == profiles.INTERACTIVE else nullcontext()
    with place, accounts.held(progress.account):
        result = retrieve(
            question=row.searched, scope=progress.scope, profile=row.profile, limit=progress.limit
        )
        progress.items = _still_eligible(progress, result.items)
        actions.record_retrieval(answer=row, result=result, items=progress.items)
        connections.release()
    progress.lap("retrieval", started)
    return result


def _still_eligible(progress: _Progress, items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Check once more, in a query of its own, that the scope allows every passage; drop what it does not."""
    if not items:
        return ()
    wanted = [item.chunk_pk for item in items]
    allowed = set(
        Chunk.objects.within(progress.scope).filter(pk__in=wanted).order_by().values_list("pk", flat=True)
    )
    dropped = len(items) - len(allowed)
    if dropped:
        logger.error("answer.ineligible_dropped", answer_id=str(progress.answer.pk), count=dropped)
    return tuple(item for item in items if item.chunk_pk in allowed)


def _written(progress: _Progress, profile: str) -> Iterator[AnswerEvent]:
    row = progress.answer
    condensed = _condensed(progress, profile)
    started = time.monotonic()
    with accounts.held(progress.account):
        draft = writers.draft(row.engine, question=row.searched, items=progress.items, condensed=condensed)
    if condensed is not None:
        yield telling.condensed(draft.parameters[condensing.RECORD])
    actions.record_writing(answer=row, draft=draft)
    connections.release()
    yield telling.writing(draft)
    progress.saved_at = time.monotonic()
    with closing(draft.pieces()) as pieces:
        for piece in pieces:
            if isinstance(piece, Usage):
                progress.usage = piece
                continue
            progress.parts.append(piece)
            _checkpoint(progress)
            yield AnswerEvent(EventName.DELTA, {"text": piece})
    progress.lap("generation", started)
    row.model_parameters = draft.parameters
    finish = draft.finish(progress.text)
    yield _end(progress, state=Answer.State.DONE, finish=finish)
    yield telling.done(row)


def _condensed(progress: _Progress, profile: str) -> Condensed | None:
    """Have the sources condensed for the model, where the asker or the profile that retrieval ran says so."""
    row = progress.answer
    started = time.monotonic()
    with accounts.held(progress.account):
        condensed = compression.compress(
            question=row.searched,
            items=progress.items,
            profile=profile,
            engine=row.engine,
            asked=progress.compressed,
        )
    if condensed is not None:
        progress.lap("compression", started)
    return condensed


def _without_evidence(progress: _Progress, result: RetrievalResult) -> Iterator[AnswerEvent]:
    """Refuse without a model call; say so when it was not the corpus that had nothing but a layer."""
    statuses = {trace.stage: trace.status for trace in result.traces if trace.stage in result.layers}
    failed = [name for name, status in statuses.items() if status in DEGRADED]
    if failed and not _FINISHED & set(statuses.values()):
        timed_out = all(statuses[name] == StageStatus.TIMEOUT for name in failed)
        finish = Answer.Finish.RETRIEVAL_TIMEOUT if timed_out else Answer.Finish.RETRIEVAL_FAILED
        _end(progress, state=Answer.State.FAILED, finish=finish, error=", ".join(failed))
        message = "No search finished in time: " if timed_out else "No search worked: "
        yield telling.error(progress.answer, finish.value, f"{message}{', '.join(failed)}.")
        return
    progress.parts.append(NO_SOURCES_TEXT)
    yield AnswerEvent(EventName.DELTA, {"text": NO_SOURCES_TEXT})
    _end(progress, state=Answer.State.DONE, finish=Answer.Finish.NO_SOURCES)
    yield telling.done(progress.answer)


def _checkpoint(progress: _Progress) -> None:
    if time.monotonic() - progress.saved_at < _CHECKPOINT_SECONDS:
        return
    progress.saved_at = time.monotonic()
    try:
        actions.record_progress(answer=progress.answer, text=progress.text)
        connections.release()
    except OperationalError as error:
        # A database that is busy or gone for a moment costs what a crash would lose, not the answer.
        logger.warning(
            "answer.not_checkpointed", answer_id=str(progress.answer.pk), error=type(error).__name__
        )


def _broken_off(progress: _Progress, finish: Answer.Finish, error: str) -> None:
    state = Answer.State.PARTIAL if progress.parts else Answer.State.FAILED
    # What broke it off may be that its connection was lost, and on that one nothing can be stored.
    connections.release()
    try:
        _end(progress, state=state, finish=finish, error=error)
    except Exception as failure:  # noqa: BLE001 the sweeper closes the row; the asker still gets an answer
        logger.error("answer.not_stored", answer_id=str(progress.answer.pk), error=type(failure).__name__)  # noqa: TRY400


def _end(progress: _Progress, *, state: Answer.State, finish: Answer.Finish, error: str = "") -> AnswerEvent:
    """Check the text, store the final state, and tell what the check found."""
    with admission.at_work():
        return _checked_and_stored(progress, state, finish, error)


def _checked_and_stored(
    progress: _Progress, state: Answer.State, finish: Answer.Finish, error: str
) -> AnswerEvent:
    text = progress.text
    bodies = [item.body for item in progress.items]
    found = citations.find(text, bodies)
    cited = citations.cited_numbers(found)
    checks = findings.check(text, evidence.for_checking(progress.items)) if progress.items else ()
    if finish == Answer.Finish.NOT_COVERED and not cited:
        checks = ()
    progress.lap("total", progress.started)
    ending = actions.Ending(
        state=state,
        finish=finish,
        text=text,
        cited=cited,
        findings=checks,
        timings=progress.timings,
        usage=progress.usage,
        error=error,
    )
    actions.end(answer=progress.answer, ending=ending)
    connections.release()
    engine = progress.answer.engine
    catalogue.ANSWERS.count(engine=engine, state=state, finish=finish)
    catalogue.ANSWER_SECONDS.observe(time.monotonic() - progress.started, engine=engine)
    return telling.checks(found, checks)
