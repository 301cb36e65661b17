"""The record of an evaluation run: opened with its conditions, filled result by result, ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from corpus import run_claims
from corpus.audit.recording import Kind, record
from corpus.usage import capping
from corpus.usage.budget import Cap
from corpus.webhooks import actions as webhooks
from corpus.webhooks.events import Event
from evaluation.ground_truth.models import Question, QuestionSet
from evaluation.questions import questions_sha256
from evaluation.runs.models import (
    Baseline,
    EvaluationRun,
    RetrievalOutcome,
    RunConfiguration,
    RunDocument,
    RunQuestion,
)
from evaluation.runs.telling import KIND

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)
State = EvaluationRun.State


@dataclass(frozen=True, slots=True)
class Row:
    """A configuration as a run keeps it; one with a refusal is not carried out."""

    name: str
    profile: str
    switches: dict[str, bool] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a run is about to do, and the conditions it is done under."""

    kind: EvaluationRun.Kind
    question_set: QuestionSet
    questions: Sequence[Question]
    rows: Sequence[Row]
    scope: dict[str, Any]
    fingerprint: str
    code_version: str
    planned: int
    embedding_version: str = ""
    snapshot: str = ""
    judge: str = ""
    is_self_judged: bool = False
    conditions: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    cap: Cap = field(default_factory=Cap)


@transaction.atomic
def start(*, opening: Opening, is_for_workers: bool = False, by: User | None) -> EvaluationRun:
    """Record a run with its questions as they are now and its configurations."""
    drafted = sum(question.drafted for question in opening.questions)
    run = EvaluationRun.objects.create(
        kind=opening.kind,
        question_set=opening.question_set,
        question_set_name=opening.question_set.name,
        questions_sha256=questions_sha256((one.key, one.content_sha256) for one in opening.questions),
        drafted=drafted,
        reviewed=len(opening.questions) - drafted,
        scope=opening.scope,
        fingerprint=opening.fingerprint,
        snapshot=opening.snapshot,
        embedding_version=opening.embedding_version,
        code_version=opening.code_version,
        judge=opening.judge,
        is_self_judged=opening.is_self_judged,
        conditions=opening.conditions,
        parameters=opening.parameters,
        planned=opening.planned,
        is_for_workers=is_for_workers,
        started_by=by,
        started_by_name="" if by is None else by.get_username(),
        **capping.fields_of(opening.cap),
    )
    RunQuestion.objects.bulk_create(
        _asked(run, number, question) for number, question in enumerate(opening.questions, start=1)
    )
    RunConfiguration.objects.bulk_create(
        RunConfiguration(
            run=run, number=number, name=row.name, profile=row.profile, switches=row.switches,
            options=row.options, refusal=row.refusal[:200],
        )
        for number, row in enumerate(opening.rows, start=1)
    )  # fmt: skip
    run.refresh_from_db()
    return run


def _asked(run: EvaluationRun, number: int, question: Question) -> RunQuestion:
    return RunQuestion(
        run=run,
        number=number,
        source=question,
        key=question.key,
        content_sha256=question.content_sha256,
        question=question.question,
        reference_answer=question.reference_answer,
        kind=question.kind,
        split=question.split,
        tags=question.tags,
        unanswerable=question.unanswerable,
        drafted=question.drafted,
    )


@transaction.atomic
def keep(*, outcome: RetrievalOutcome, documents: Iterable[str]) -> None:
    """Store what one configuration found for one question, and count it; the same again changes nothing."""
    run = EvaluationRun.objects.select_for_update().get(pk=outcome.configuration.run_id)
    same = RetrievalOutcome.objects.filter(configuration=outcome.configuration, question=outcome.question)
    if run.state != State.RUNNING or same.exists():
        return
    outcome.save()
    touch_documents(run=run.pk, documents=documents)
    count(run=run.pk, failure=outcome.error_code)


def touch_documents(*, run: UUID, documents: Iterable[str]) -> None:
    """Note that a run has touched documents."""
    rows = [RunDocument(run_id=run, document_ref=key) for key in sorted(set(documents))]
    RunDocument.objects.bulk_create(rows, ignore_conflicts=True)


def count(*, run: UUID, failure: str = "") -> None:
    """Count a result, a failed one with its code, and show a sign of life."""
    values: dict[str, Any] = {"done": F("done") + 1, "touched_at": Now()}
    if failure:
        values |= {"failed": F("failed") + 1, "last_error_code": failure[:60]}
    EvaluationRun.objects.filter(pk=run).update(**values)


@transaction.atomic
def finish(
    *,
    run: UUID,
    summary: dict[str, Any],
    questions: Sequence[RunQuestion] = (),
    outcomes: Sequence[RetrievalOutcome] = (),
) -> EvaluationRun:
    """End a run with its numbers; it has failed when every result of it failed."""
    row = EvaluationRun.objects.select_for_update().get(pk=run)
    if row.state != State.RUNNING:
        return row
    RunQuestion.objects.bulk_update(questions, ["relevant_documents", "relevant_passages"], batch_size=500)
    RetrievalOutcome.objects.bulk_update(outcomes, ["measures"], batch_size=500)
    all_failed = row.failed > 0 and row.failed == row.done
    row.state = State.FAILED if all_failed else State.FINISHED
    row.summary = {} if all_failed else summary
    row.finished_at = Now()
    row.touched_at = None
    row.save()
    _announce(run)
    if not all_failed:
        about = {"run": str(run), "kind": row.kind, "started_by": row.started_by_id}
        record(Kind.PUBLISHED, by=None, about=about)
    row.refresh_from_db()
    logger.info("evaluation.finished", run=str(run), state=row.state, results=row.done, failed=row.failed)
    return row


@transaction.atomic
def fail(*, run: UUID, code: str) -> None:
    """End a run that cannot go on: its conditions changed, or something unforeseen stopped it."""
    running = EvaluationRun.objects.filter(pk=run, state=State.RUNNING)
    if running.update(state=State.FAILED, finished_at=Now(), touched_at=None, last_error_code=code[:60]):
        _announce(run)
        logger.warning("evaluation.failed", run=str(run), code=code)


def stop_at_the_cap(*, run: EvaluationRun) -> None:
    """Let a run rest that has used what it may: it goes on when its cap is raised."""
    rests = run_claims.held(run).update(state=State.CAPPED, finished_at=Now(), touched_at=None, held_by="")
    logger.info("evaluation.stopped_at_the_cap", run=str(run.pk), is_ours=bool(rests))


class CannotRaise(ValueError):
    """A run that did not stop at its cap, or has reached the new one already. The message says which."""


@transaction.atomic
def raise_cap(*, run: UUID, cap: Cap, by: User | None) -> EvaluationRun:
    """Let a run go on that stopped at its cap, under a higher one. Raises `CannotRaise`."""
    row = EvaluationRun.objects.select_for_update().get(pk=run)
    if row.state != State.CAPPED:
        raise CannotRaise(f"Run {run} did not stop at its cap.")
    row.max_tokens, row.max_cost_usd = cap.max_tokens, cap.max_cost_usd
    if reached := capping.budget_of(row).reached:
        raise CannotRaise(f"Under this cap run {run} cannot go on: {reached}.")
    row.state, row.finished_at, row.touched_at, row.claim = State.RUNNING, None, None, None
    row.save()
    logger.info("evaluation.cap_raised", run=str(run), by=by.pk if by else None)
    return row


@transaction.atomic
def cancel(*, run: EvaluationRun, by: User | None) -> bool:
    """Stop a run after the question at hand; False when it has ended. What it found gets no numbers."""
    running = EvaluationRun.objects.filter(pk=run.pk, state=State.RUNNING)
    is_cancelled = bool(running.update(state=State.CANCELLED, finished_at=Now(), touched_at=None))
    if is_cancelled:
        _announce(run.pk)
        logger.info("evaluation.cancelled", run=str(run.pk), by=by.pk if by else None)
    return is_cancelled


def _announce(run: UUID) -> None:
    """Tell webhooks of a run that has ended, in the caller's transaction."""
    webhooks.announce(event=Event.RUN_FINISHED, kind=KIND, subject=run)


def claim(*, run: UUID, for_workers: bool = True) -> EvaluationRun | None:
    """Take a run that nobody carries out; None when somebody does, or it has ended."""
    return run_claims.claim(EvaluationRun, run, for_workers=for_workers)


class NotABaseline(ValueError):
    """A run without numbers, or a name that is none."""


def set_baseline(*, name: str, run: EvaluationRun, by: User | None) -> Baseline:
    """Hold later runs against this one under `name`, in place of the one before. Raises `NotABaseline`."""
    if run.state != State.FINISHED:
        raise NotABaseline("Only a run that has finished has numbers to hold others against.")
    values = {
        "run": run,
        "set_by": by,
        "set_by_name": "" if by is None else by.get_username(),
        "set_at": Now(),
    }
    baseline, _ = Baseline.objects.update_or_create(name=name, defaults=values)
    logger.info("evaluation.baseline_set", name=name, run=str(run.pk), by=by.pk if by else None)
    return baseline
