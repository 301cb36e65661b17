"""Keeping what a run of answers comes to, each step in a transaction of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from answers.models import Answer
from evaluation.ground_truth.models import Question, QuestionSet
from evaluation.judging.models import AnswerOutcome, Judgement
from evaluation.judging.passes import Reply
from evaluation.questions import questions_sha256
from evaluation.runs.models import EvaluationRun, RunConfiguration, RunDocument, RunQuestion

if TYPE_CHECKING:
    from django.contrib.auth.models import User

State = EvaluationRun.State
# An answer and two replies have minutes each.
_GIVEN_UP_AFTER = timedelta(minutes=15)
PASSES = len(Judgement.Kind)


class RunEnded(RuntimeError):
    """The run was cancelled or ended meanwhile: what was about to be kept is not."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """The conditions of a run of answers, as `EvaluationRun` and its one configuration hold them."""

    question_set: QuestionSet
    questions: Sequence[Question]
    fields: dict[str, Any]
    configuration: dict[str, Any]


@transaction.atomic
def begin(*, beginning: Beginning, by: User | None) -> EvaluationRun:
    """Record a run with its questions as they are now."""
    questions = beginning.questions
    run = EvaluationRun.objects.create(
        kind=EvaluationRun.Kind.ANSWERS,
        question_set=beginning.question_set,
        question_set_name=beginning.question_set.name,
        questions_sha256=questions_sha256((row.key, row.content_sha256) for row in questions),
        drafted=sum(row.drafted for row in questions),
        reviewed=sum(not row.drafted for row in questions),
        planned=PASSES * len(questions),
        started_by=by,
        started_by_name="" if by is None else by.get_username(),
        **beginning.fields,
    )
    RunConfiguration.objects.create(run=run, number=1, **beginning.configuration)
    RunQuestion.objects.bulk_create(
        RunQuestion(
            run=run,
            number=number,
            source=row,
            key=row.key,
            content_sha256=row.content_sha256,
            question=row.question,
            reference_answer=row.reference_answer,
            kind=row.kind,
            split=row.split,
            tags=row.tags,
            unanswerable=row.unanswerable,
            drafted=row.drafted,
        )
        for number, row in enumerate(questions, start=1)
    )
    return run


@transaction.atomic
def keep_answer(*, question: RunQuestion, answer: Answer | None, error_code: str = "") -> AnswerOutcome:
    """Keep the answer to a question, or why there is none. Raises `RunEnded`."""
    run = _going_on(question.run_id)
    outcome = AnswerOutcome(question=question, answer=answer, error_code=error_code[:60])
    if answer is not None:
        _describe(outcome, answer)
        documents = answer.sources.exclude(document=None).order_by().values_list("document_id", flat=True)
        rows = [RunDocument(run=run, document_ref=key) for key in set(documents)]
        RunDocument.objects.bulk_create(rows, ignore_conflicts=True)
    outcome.save()
    _touch(run)
    return outcome


def _describe(outcome: AnswerOutcome, answer: Answer) -> None:
    outcome.finish, outcome.fingerprint = answer.finish, answer.fingerprint
    outcome.sources = answer.sources.count()
    outcome.cited = answer.sources.filter(is_cited=True).count()
    outcome.prompt_tokens, outcome.completion_tokens = answer.prompt_tokens, answer.completion_tokens
    outcome.milliseconds = float(answer.timings.get("total", 0.0))
    if not outcome.error_code:
        outcome.answer_sha256 = text_sha256(answer.text)
        outcome.abstained = answer.finish in {Answer.Finish.NOT_COVERED, Answer.Finish.NO_SOURCES}


@transaction.atomic
def keep_judgement(*, outcome: AnswerOutcome, kind: Judgement.Kind, reply: Reply) -> Judgement:
    """Keep one reply of the judge and count it. Raises `RunEnded`."""
    run = _going_on(outcome.question.run_id)
    judgement = Judgement.objects.create(
        outcome=outcome,
        kind=kind,
        clamped=list(reply.clamped),
        error_code=reply.error_code[:60],
        prompt_sha256=reply.prompt_sha256,
        prompt_tokens=reply.usage.prompt_tokens,
        completion_tokens=reply.usage.completion_tokens,
        milliseconds=reply.milliseconds,
        **reply.grades,
    )
    run.done += 1
    if reply.error_code:
        run.failed += 1
        run.last_error_code = judgement.error_code
    _touch(run)
    return judgement


@transaction.atomic
def finish(*, run: UUID, summary: dict[str, Any]) -> EvaluationRun:
    """End a run with its numbers; when not one reply could be read it failed and has none."""
    row = EvaluationRun.objects.select_for_update().get(pk=run)
    if row.state == State.RUNNING:
        row.state = State.FAILED if row.failed == row.done else State.FINISHED
        row.summary = summary if row.state == State.FINISHED else {}
        row.finished_at, row.touched_at = Now(), None
        row.save()
        row.refresh_from_db()
    return row


def fail(*, run: UUID, code: str) -> None:
    """End a run that cannot go on."""
    _running(run).update(state=State.FAILED, finished_at=Now(), touched_at=None, last_error_code=code[:60])


def cancel(*, run: UUID, by: User | None) -> bool:
    """End a run before its time; what there is stays. Returns whether it was still running."""
    name = "" if by is None else by.get_username()
    code = f"cancelled by {name}" if name else "cancelled"
    return bool(
        _running(run).update(
            state=State.CANCELLED, finished_at=Now(), touched_at=None, last_error_code=code[:60]
        )
    )


def claim(*, run: UUID) -> EvaluationRun | None:
    """Take a run of answers that nobody carries out; None when somebody does, or it has ended."""
    free = Q(touched_at__isnull=True) | Q(touched_at__lt=Now() - _GIVEN_UP_AFTER)
    waiting = _running(run).filter(free, kind=EvaluationRun.Kind.ANSWERS)
    return EvaluationRun.objects.get(pk=run) if waiting.update(touched_at=Now()) else None


def let_go(*, run: UUID) -> None:
    """Leave a run to whoever takes it next."""
    _running(run).update(touched_at=None)


def text_sha256(text: str) -> str:
    """Return the hash by which labels and judgements know an answer's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _running(run: UUID) -> Any:
    return EvaluationRun.objects.filter(pk=run, state=State.RUNNING)


def _going_on(run: UUID) -> EvaluationRun:
    row = EvaluationRun.objects.select_for_update().get(pk=run)
    if row.state != State.RUNNING:
        raise RunEnded
    return row


def _touch(run: EvaluationRun) -> None:
    run.touched_at = Now()
    run.save(update_fields=["done", "failed", "last_error_code", "touched_at"])
