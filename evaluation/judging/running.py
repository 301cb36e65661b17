"""Carrying a run of answers out: what is kept already is not done again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

import structlog
from django.db.models import Count, F, QuerySet
from django.db.models.functions import Coalesce

from answers import engine
from answers.models import Answer
from corpus.connections import release
from corpus.gateways.llm import ChatModel
from corpus.scope import RetrievalScope
from corpus.usage import accounts, capping
from evaluation.actions import judging as action
from evaluation.actions import runs
from evaluation.actions.judging import PASSES, RunEnded
from evaluation.judging import passes, reading, results, starting
from evaluation.judging.models import AnswerOutcome, Judgement
from evaluation.judging.passes import Reply
from evaluation.runs.models import EvaluationRun, RunQuestion
from retrieval.request import InvalidRequest

logger = structlog.get_logger(__name__)

Advance = Callable[[int], None]
Kind = Judgement.Kind


@dataclass(frozen=True, slots=True)
class _Work:
    """What is the same for all questions of a run."""

    run: EvaluationRun
    judge: ChatModel
    scope: RetrievalScope

    def outcome(self, question: RunQuestion) -> AnswerOutcome:
        kept = AnswerOutcome.objects.filter(question=question).first()
        if kept is not None:
            return kept
        try:
            answer = self._answer(question.question)
        except InvalidRequest:
            return self._kept(question, None, "invalid_question")
        return self._kept(
            question, answer, "" if answer.state == Answer.State.DONE else answer.finish or "failed"
        )

    def _kept(self, question: RunQuestion, answer: Answer | None, code: str) -> AnswerOutcome:
        return action.keep_answer(question=question, answer=answer, claim=self.run.claim, error_code=code)

    def _answer(self, question: str) -> Answer:
        # The run's scope has met the ceiling already, and the answer is nobody's to find in their history.
        return engine.answer(question=question, requested=self.scope, by=None, **self.run.parameters)

    def reply(self, kind: Kind, outcome: AnswerOutcome, question: RunQuestion) -> Reply:
        answer = outcome.answer
        if outcome.error_code or answer is None:
            return Reply(error_code="no_answer")
        if action.text_sha256(answer.text) != outcome.answer_sha256:
            return Reply(error_code="answer_changed")
        if kind == Kind.CORRECTNESS:
            return passes.correctness(
                judge=self.judge,
                question=question.question,
                answer=answer.text,
                reference=question.reference_answer,
                carries=reading.classes_of_sources(answer),
            )
        sources = reading.sources_of(answer, self.scope)
        if sources is None:
            return Reply(error_code="source_gone")
        return passes.grounding(
            judge=self.judge, question=question.question, answer=answer.text, sources=sources
        )


def carry_out(
    run: EvaluationRun, *, until: float | None = None, advance: Advance = lambda _: None
) -> EvaluationRun | None:
    """Answer and judge what is left of a run that was claimed; None when `until` came before its end.

    One that has used what its cap allows rests, between two questions. `advance` hears of every reply.
    Raises `CannotStart` when the judge or whoever began it is another, and `RunLost` when somebody else has
    taken the run meanwhile.
    """
    work = _Work(run, starting.judge_of(run), starting.scope_of(run))
    budget = capping.budget_of(run)
    for question in unfinished(run):
        if until is not None and monotonic() > until:
            return None
        if budget.reached:
            runs.stop_at_the_cap(run=run)
            return EvaluationRun.objects.get(pk=run.pk)
        try:
            with accounts.charged_to(run.started_by, budget=budget):
                _judged(work, question, advance)
        except RunEnded:
            return EvaluationRun.objects.get(pk=run.pk)
        finally:
            capping.keep(run, budget)
        release()
    return runs.finish(run=run.pk, summary=results.summary(run))


def _judged(work: _Work, question: RunQuestion, advance: Advance) -> None:
    outcome = work.outcome(question)
    there = set(outcome.judgements.order_by().values_list("kind", flat=True))
    for kind in Kind:
        if kind in there:
            continue
        reply = work.reply(kind, outcome, question)
        action.keep_judgement(outcome=outcome, kind=kind, reply=reply, claim=work.run.claim)
        logger.info("judge.replied", run=str(work.run.pk), kind=kind.value, code=reply.error_code)
        advance(1)


def unfinished(run: EvaluationRun) -> QuerySet[RunQuestion]:
    """Return the questions of a run that lack an answer or a reply, in their order."""
    replies = Coalesce(Count("answer_outcome__judgements"), 0)
    return run.questions.annotate(replies=replies).filter(replies__lt=PASSES).order_by(F("number"), "pk")
