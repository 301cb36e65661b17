"""Keeping what a run of answers comes to, each step in a transaction of its own."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from answers.models import Answer
from corpus.run_claims import RunLost
from evaluation.actions.runs import count, touch_documents
from evaluation.judging.models import NOT_ASKED, AnswerOutcome, Judgement
from evaluation.judging.passes import Reply
from evaluation.runs.models import EvaluationRun, RunQuestion

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)
State = EvaluationRun.State
PASSES = len(Judgement.Kind)


class RunEnded(RuntimeError):
    """The run was cancelled or ended meanwhile: what was about to be kept is not."""


class CannotAskAgain(ValueError):
    """A run of which no reply can be asked for again; the message says why."""


@transaction.atomic
def keep_answer(
    *, question: RunQuestion, answer: Answer | None, claim: UUID | None, error_code: str = ""
) -> AnswerOutcome:
    """Keep the answer to a question, or why there is none. Raises `RunEnded` and `RunLost`."""
    run = _going_on(question.run_id, claim)
    outcome = AnswerOutcome(question=question, answer=answer, error_code=error_code[:60])
    if answer is not None:
        _describe(outcome, answer)
        documents = answer.sources.exclude(document=None).order_by().values_list("document_id", flat=True)
        touch_documents(run=run.pk, documents=map(str, documents))
    outcome.save()
    EvaluationRun.objects.filter(pk=run.pk).update(touched_at=Now())
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
def keep_judgement(
    *, outcome: AnswerOutcome, kind: Judgement.Kind, reply: Reply, claim: UUID | None
) -> Judgement:
    """Keep one reply of the judge and count it. Raises `RunEnded` and `RunLost`."""
    run = _going_on(outcome.question.run_id, claim)
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
    count(run=run.pk, failure=reply.error_code)
    return judgement


@transaction.atomic
def ask_again(*, run: EvaluationRun, for_workers: bool, by: User | None) -> EvaluationRun:
    """Open an ended run again for the replies its judge failed to give, and for those alone.

    What was graded stays as it is, and the run says from then on that some replies had a second chance.
    Raises `CannotAskAgain`.
    """
    row = EvaluationRun.objects.select_for_update().get(pk=run.pk)
    _refuse_what_others_rest_on(row)
    failed = Judgement.objects.filter(outcome__question__run=row).exclude(error_code__in=("", *NOT_ASKED))
    codes = Counter(failed.order_by().values_list("error_code", flat=True))
    if not codes and row.done == row.planned:
        raise CannotAskAgain(f"The judge failed to give no reply in run {row.pk}.")
    failed.delete()
    row.done, row.failed = row.done - codes.total(), row.failed - codes.total()
    row.state, row.summary, row.finished_at, row.last_error_code = State.RUNNING, {}, None, ""
    row.is_for_workers, row.touched_at, row.claim = for_workers, None, None
    name = "" if by is None else by.get_username()
    row.retries = [
        *row.retries, {"at": timezone.now().isoformat(), "by": name, "codes": dict(sorted(codes.items()))},
    ]  # fmt: skip
    row.save()
    logger.info("evaluation.asked_again", run=str(row.pk), replies=codes.total(), by=by.pk if by else None)
    return row


def _refuse_what_others_rest_on(run: EvaluationRun) -> None:
    """Raise `CannotAskAgain` where the run has no failed replies to have again, or its numbers are in use."""
    has_ended = run.state in {State.FINISHED, State.FAILED}
    # One that was cancelled while it was asked again had numbers, and gets them back.
    is_open_again = run.state == State.CANCELLED and bool(run.retries)
    if run.kind != EvaluationRun.Kind.ANSWERS or not (has_ended or is_open_again):
        raise CannotAskAgain(f"Run {run.pk} is not a run of answers that has ended.")
    names = list(run.baselines.order_by("name").values_list("name", flat=True))
    if names:
        raise CannotAskAgain(f"Run {run.pk} is the baseline {', '.join(names)}: its numbers stay.")
    if run.decisions_as_whole.exists() or run.decisions_as_condensed.exists():
        raise CannotAskAgain(f"A decision on compression rests on run {run.pk}: its numbers stay.")


def text_sha256(text: str) -> str:
    """Return the hash by which labels and judgements know an answer's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _going_on(run: UUID, claim: UUID | None) -> EvaluationRun:
    row = EvaluationRun.objects.select_for_update().get(pk=run)
    if row.state != State.RUNNING:
        raise RunEnded
    if row.claim != claim:
        raise RunLost
    return row
