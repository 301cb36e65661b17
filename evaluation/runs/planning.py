"""What a retrieval evaluation is to ask, and the conditions it opens with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corpus.curation import CorpusSnapshot
from corpus.domain_profile import active_profile
from corpus.fingerprint import fingerprint
from corpus.scope import RetrievalScope
from corpus.vectors import active_version
from evaluation.actions.questions import find_again
from evaluation.actions.runs import Opening, Row
from evaluation.ground_truth import queries
from evaluation.ground_truth.models import Question, QuestionSet
from evaluation.runs.ablations import RESOLVED, WITH_RERANK, Configuration
from evaluation.runs.conditions import code_version, conditions
from evaluation.runs.models import EvaluationRun
from retrieval.models import ResolutionAudit
from retrieval.rerank import RerankerOff, reranker_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class CannotEvaluate(ValueError):
    """There is nothing to ask, or not of what was named; the message is for whoever asked."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What was asked for. `scope` is effective already."""

    question_set: QuestionSet
    scope: RetrievalScope
    configurations: tuple[Configuration, ...]
    split: str = ""
    tags: tuple[str, ...] = ()
    snapshot: str = ""


def opening_of(plan: Plan, *, by: User | None) -> Opening:
    """Return the opening of a retrieval run over the questions `by` may know of; None is the operator.

    Raises `CannotEvaluate`.
    """
    questions = questions_of(plan, by=by)
    answerable = sum(not question.unanswerable for question in questions)
    if not answerable:
        raise CannotEvaluate(f"The set {plan.question_set.name} has no question of that kind to ask.")
    if plan.scope.denied:
        raise CannotEvaluate("The scope allows nothing: there is nothing to find.")
    version = active_version()
    rows = [row_of(configuration) for configuration in plan.configurations]
    return Opening(
        kind=EvaluationRun.Kind.RETRIEVAL,
        question_set=plan.question_set,
        questions=questions,
        rows=rows,
        scope=plan.scope.as_dict(),
        fingerprint=fingerprint(plan.scope, embedding=version.name if version else None),
        code_version=code_version(),
        planned=answerable * sum(not row.refusal for row in rows),
        embedding_version="" if version is None else version.name,
        snapshot=checked_snapshot(plan.snapshot),
        conditions=conditions(),
        parameters={
            "configurations": [row.name for row in rows], "split": plan.split, "tags": list(plan.tags),
        },
    )  # fmt: skip


def questions_of(plan: Plan, *, by: User | None) -> list[Question]:
    """Return the questions to ask, in order, their evidence bound to where it stands now."""
    questions = queries.asked(plan.question_set)
    if by is not None:
        questions = questions.filter(pk__in=queries.known_questions(by).values("pk"))
    if plan.split:
        questions = questions.filter(split=plan.split)
    if plan.tags:
        questions = questions.filter(tags__overlap=list(plan.tags))
    found = list(questions)
    return list(questions) if find_again(questions=found, scope=plan.scope) else found


def checked_snapshot(name: str) -> str:
    """Return the name of a snapshot that the corpus still equals. Raises `CannotEvaluate`."""
    if not name:
        return ""
    kept = CorpusSnapshot.objects.filter(name=name).first()
    if kept is None:
        raise CannotEvaluate(f"There is no snapshot called {name}.")
    if kept.fingerprint != fingerprint(RetrievalScope()):
        raise CannotEvaluate(f"The corpus is not what the snapshot {name} holds any more.")
    return name


def row_of(configuration: Configuration) -> Row:
    """Return a configuration as a run keeps it, refused where what it is about does not exist here."""
    return Row(
        name=configuration.name,
        profile=configuration.profile,
        switches=dict(configuration.switches),
        options=configuration.options(),
        refusal=_refusal(configuration),
    )


def _refusal(configuration: Configuration) -> str:
    if configuration.name == RESOLVED and not ResolutionAudit.objects.filter(act="merge").exists():
        return "no entities were merged: there is nothing to compare"
    if configuration.name == WITH_RERANK and configured_reranker() is None:
        return "no reranker is configured: neither a cross-encoder nor a language model"
    return ""


def configured_reranker() -> str | None:
    """Return the reranker that grades where grading is asked for: the profile's, else one that is there."""
    profile = active_profile().reranker
    for kind in (profile.kind, "cross_encoder", "model"):
        try:
            if reranker_of(profile, kind) is not None:
                return kind
        except RerankerOff:
            continue
    return None


def names(configurations: Sequence[Configuration]) -> str:
    """Return the names of configurations in one line."""
    return ", ".join(one.name for one in configurations)
