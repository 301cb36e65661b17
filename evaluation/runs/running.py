"""Carrying a retrieval evaluation out: every configuration asks every question, then all is measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

import structlog

from corpus import ceilings, connections
from corpus.domain_profile import GraphProfile
from corpus.fingerprint import fingerprint
from corpus.scope import RetrievalScope, scope
from evaluation.actions import runs as action
from evaluation.ground_truth.models import Question
from evaluation.ground_truth.queries import with_evidence
from evaluation.metrics.ranking import DEPTH
from evaluation.reports import summary
from evaluation.runs import relevant
from evaluation.runs.models import EvaluationRun, RetrievalOutcome, RunConfiguration, RunQuestion
from evaluation.runs.planning import Plan, configured_reranker, opening_of
from evaluation.runs.relevant import Relevance
from retrieval.fusion import RANKS
from retrieval.retriever import RetrievalFailed, retrieve
from retrieval.types import RetrievalResult

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)
Advance = Callable[[int], None]


class ConditionsChanged(RuntimeError):
    """Corpus, questions or rights are not what the run began with: its numbers would mean nothing."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def evaluate(
    plan: Plan,
    *,
    by: User | None,
    begun: Callable[[EvaluationRun], None] = lambda _: None,
    advance: Advance = lambda _: None,
) -> EvaluationRun:
    """Carry an evaluation out in this process; return the run as it ended. Raises `CannotEvaluate`."""
    run = action.start(opening=opening_of(plan, by=by), by=by)
    begun(run)
    try:
        carry_out(run, advance=advance)
    except ConditionsChanged as changed:
        action.fail(run=run.pk, code=changed.code)
    except BaseException as error:
        action.fail(run=run.pk, code=type(error).__name__)
        raise
    run.refresh_from_db()
    return run


def carry_out(run: EvaluationRun, *, advance: Advance = lambda _: None, until: float | None = None) -> bool:
    """Ask what was not asked yet and end the run; False when `until` came first.

    A run that somebody cancels stops with the question at hand. Raises `ConditionsChanged`.
    """
    work = _Work(run)
    for configuration in run.configurations.filter(refusal="").order_by("number", "pk"):
        for question in _unasked(run, configuration):
            if until is not None and monotonic() > until:
                return False
            if not _is_running(run):
                return True
            outcome = work.outcome(configuration, question)
            touched = {place for row in outcome.found for place in (row["document"], *row["also_in"])}
            action.keep(outcome=outcome, documents=touched)
            advance(1)
    if _is_running(run):
        work.measure()
    return True


def _unasked(run: EvaluationRun, configuration: RunConfiguration) -> list[RunQuestion]:
    asked = configuration.outcomes.values("question_id")
    left = run.questions.filter(unanswerable=False).exclude(pk__in=asked)
    return list(left.order_by("number", "pk"))


def _is_running(run: EvaluationRun) -> bool:
    return EvaluationRun.objects.filter(pk=run.pk, state=EvaluationRun.State.RUNNING).exists()


class _Work:
    """One run at work; what is relevant to a question is looked up once."""

    def __init__(self, run: EvaluationRun) -> None:
        self._run = run
        self._scope = scope(**run.scope)
        self._relevances: dict[int, Relevance] = {}
        by = run.started_by
        if by is not None and ceilings.effective_scope(by, self._scope) != self._scope:
            raise ConditionsChanged("rights_changed")

    def outcome(self, configuration: RunConfiguration, question: RunQuestion) -> RetrievalOutcome:
        """Ask one question; a retrieval that fails is an outcome with a code and finds nothing."""
        outcome = RetrievalOutcome(configuration=configuration, question=question)
        relevance = self._relevance(question)
        started = monotonic()
        try:
            result = self._retrieved(configuration, question.question)
        except RetrievalFailed:
            logger.warning("evaluation.retrieval_failed", run=str(self._run.pk), question=question.pk)
            outcome.error_code = "retrieval_failed"
            return outcome
        outcome.milliseconds = round((monotonic() - started) * 1000, 1)
        outcome.found = relevant.found(result.items, relevance)
        outcome.degraded = list(result.degraded)
        outcome.stages = _stages(result)
        return outcome

    def _retrieved(self, configuration: RunConfiguration, question: str) -> RetrievalResult:
        options: dict[str, Any] = configuration.options
        wanted = self._scope_of(options)
        connections.release()
        result = retrieve(
            question=question,
            scope=wanted,
            profile=configuration.profile,
            limit=DEPTH,
            switches=configuration.switches,
            reranker=_reranker(options.get("reranker")),
            walk=GraphProfile(**options["walk"]) if "walk" in options else None,
            fusion=options.get("fusion", RANKS),
        )
        if wanted == self._scope and result.fingerprint != self._run.fingerprint:
            raise ConditionsChanged("corpus_changed")
        return result

    def _scope_of(self, options: dict[str, Any]) -> RetrievalScope:
        return (
            scope(**self._run.scope | {"exclude_retracted": True})
            if "exclude_retracted" in options
            else self._scope
        )

    def _relevance(self, question: RunQuestion) -> Relevance:
        if question.pk not in self._relevances:
            row = with_evidence(Question.objects.filter(pk__in=[question.source_id])).first()
            if row is None or row.content_sha256 != question.content_sha256:
                raise ConditionsChanged("questions_changed")
            self._relevances[question.pk] = relevant.relevance_of(row, self._scope)
        return self._relevances[question.pk]

    def measure(self) -> None:
        """Measure all rankings against the same relevant passages, and end the run with its numbers."""
        version = self._run.embedding_version or None
        if fingerprint(self._scope, embedding=version) != self._run.fingerprint:
            raise ConditionsChanged("corpus_changed")
        rows = RetrievalOutcome.objects.filter(configuration__run=self._run)
        outcomes = list(
            rows.select_related("configuration").order_by("configuration__number", "question__number", "pk")
        )
        questions = list(self._run.questions.order_by("number", "pk"))
        for question in questions:
            if not question.unanswerable:
                self._measure(question, [one for one in outcomes if one.question_id == question.pk])
        configurations = list(self._run.configurations.order_by("number", "pk"))
        numbers = summary.of(questions, configurations, outcomes)
        action.finish(
            run=self._run.pk, summary=numbers, questions=questions,
            outcomes=[one for one in outcomes if not one.error_code],
        )  # fmt: skip

    def _measure(self, question: RunQuestion, outcomes: Sequence[RetrievalOutcome]) -> None:
        relevance = self._relevance(question)
        passages = relevant.pooled(relevance, [one.found for one in outcomes])
        question.relevant_documents = len(relevance.documents) + relevance.lost
        question.relevant_passages = len(passages) if relevance.has_phrases else None
        for outcome in outcomes:
            if not outcome.error_code:
                outcome.measures = relevant.measured(
                    outcome.found,
                    passages=question.relevant_passages,
                    documents=question.relevant_documents,
                )


def _reranker(wanted: object) -> str | None:
    if wanted is None:
        return None
    return configured_reranker() if wanted else "none"


def _stages(result: RetrievalResult) -> dict[str, Any]:
    return {
        trace.stage: {
            "status": str(trace.status),
            "candidates": trace.candidates,
            "mode": trace.mode,
            "reason": trace.reason,
        }
        for trace in result.traces
    }
