"""Keeping what a run of answers comes to, each step in a transaction of its own."""

from __future__ import annotations

import hashlib
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from answers.models import Answer
from evaluation.actions.runs import count, touch_documents
from evaluation.judging.models import AnswerOutcome, Judgement
from evaluation.judging.passes import Reply
from evaluation.runs.models import EvaluationRun, RunQuestion

State = EvaluationRun.State
PASSES = len(Judgement.Kind)


class RunEnded(RuntimeError):
    """The run was cancelled or ended meanwhile: what was about to be kept is not."""


@transaction.atomic
def keep_answer(*, question: RunQuestion, answer: Answer | None, error_code: str = "") -> AnswerOutcome:
    """Keep the answer to a question, or why there is none. Raises `RunEnded`."""
    run = _going_on(question.run_id)
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
    count(run=run.pk, failure=reply.error_code)
    return judgement


def text_sha256(text: str) -> str:
    """Return the hash by which labels and judgements know an answer's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _going_on(run: UUID) -> EvaluationRun:
    row = EvaluationRun.objects.select_for_update().get(pk=run)
    if row.state != State.RUNNING:
        raise RunEnded
    return row
