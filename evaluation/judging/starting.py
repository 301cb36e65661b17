"""The conditions a run of answers is held under, written down before the first question is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from answers import writers
from answers.models import MODEL
from corpus import ceilings
from corpus.fingerprint import fingerprint
from corpus.gateways.judge_model import judge_model
from corpus.gateways.llm import ChatModel
from corpus.prompt_files import prompt_file
from corpus.scope import RetrievalScope, scope
from corpus.usage import capping
from corpus.usage.budget import Cap
from corpus.usage.estimating import Estimate
from corpus.vectors import active_version
from evaluation.actions import judging
from evaluation.actions import runs as action
from evaluation.actions.judging import PASSES
from evaluation.actions.runs import Opening, Row
from evaluation.ground_truth import queries
from evaluation.ground_truth.models import QuestionSet
from evaluation.judging import estimating
from evaluation.judging.estimating import Asking
from evaluation.judging.prompts import CORRECTNESS_FILE, GROUNDING_FILE
from evaluation.judging.summary import NAME
from evaluation.runs.conditions import code_version, conditions
from evaluation.runs.models import EvaluationRun
from evaluation.runs.planning import CannotEvaluate, checked_snapshot
from retrieval import profiles
from retrieval.request import checked_limit

if TYPE_CHECKING:
    from django.contrib.auth.models import User


PROMPTS = (GROUNDING_FILE, CORRECTNESS_FILE)


class CannotStart(CannotEvaluate):
    """A run that cannot be begun or gone on with; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a run of answers is asked to do."""

    question_set: QuestionSet
    requested: RetrievalScope
    profile: str = "interactive"
    engine: str | None = None
    limit: int = 8
    snapshot: str = ""
    # Whether the model reads its sources condensed; None leaves that to the domain profile.
    compressed: bool | None = None
    # Where it stops, to go on under a higher one.
    cap: Cap = field(default_factory=Cap)


def estimated(wanted: Wanted, *, by: User | None) -> Estimate:
    """Return what a run would come to; asks nobody and records nothing. Raises what `start` raises."""
    return estimating.estimate(_checked(wanted, by))


def _checked(wanted: Wanted, by: User | None) -> Asking:
    """Return what would be asked of what, by the questions that `by` may know of."""
    judge = configured_judge()
    profiles.check(wanted.profile)
    engine, limit = writers.choose(wanted.engine), checked_limit(wanted.limit)
    if wanted.compressed and engine != MODEL:
        raise CannotStart("Only a model reads condensed sources: set SCI_RAG_LLM_MODEL.")
    effective = wanted.requested if by is None else ceilings.effective_scope(by, wanted.requested)
    questions = queries.asked(wanted.question_set)
    if by is not None:
        questions = questions.filter(pk__in=queries.known_questions(by).values("pk"))
    rows = list(questions)
    if not rows:
        raise CannotStart(f"The set {wanted.question_set.name} has no questions to ask.")
    return Asking(rows, effective, engine, wanted.profile, limit, wanted.compressed, judge)


def start(*, wanted: Wanted, is_for_workers: bool, by: User | None) -> EvaluationRun:
    """Record a run of the questions that `by` may know of.

    Raises `CannotEvaluate`, `UnknownProfile`, `EngineUnavailable`, `InvalidRequest`, `InvalidPrompt`.
    """
    asking = _checked(wanted, by)
    judge, effective, rows = asking.judge, asking.scope, asking.questions
    model = writers.model_name(asking.engine)
    parameters = {
        "engine": asking.engine, "profile": wanted.profile, "limit": asking.limit,
        "compressed": wanted.compressed,
    }  # fmt: skip
    active = active_version()
    opening = Opening(
        kind=EvaluationRun.Kind.ANSWERS,
        question_set=wanted.question_set,
        questions=rows,
        rows=[Row(NAME, wanted.profile, options=parameters)],
        scope=effective.as_dict(),
        fingerprint=fingerprint(effective),
        code_version=code_version(),
        planned=PASSES * len(rows),
        embedding_version="" if active is None else active.name,
        snapshot=checked_snapshot(wanted.snapshot),
        judge=judge.name,
        is_self_judged=judge.name == model,
        conditions={
            **conditions(),
            "answering_model": model,
            "judge_model": judge.name,
            "judge_parameters": judge.parameters,
        },
        parameters=parameters,
        cap=capping.cap_of_a_run(wanted.cap),
    )
    return action.start(opening=opening, is_for_workers=is_for_workers, by=by)


def configured_judge() -> ChatModel:
    """Return the judge of the settings. Raises `CannotStart` without one."""
    judge = judge_model()
    if judge is None:
        raise CannotStart("No model is set that could grade answers. Set SCI_RAG_JUDGE_MODEL.")
    return judge


def judge_of(run: EvaluationRun) -> ChatModel:
    """Return the judge that a run goes on with. Raises `CannotStart` when it would not grade as it began."""
    judge = configured_judge()
    if judge.name != run.judge:
        raise CannotStart(
            f"This run was begun with the judge {run.judge}: it cannot go on with {judge.name}."
        )
    begun_with = run.conditions.get("prompts", {})
    changed = [name for name in PROMPTS if begun_with.get(name) not in (None, prompt_file(name).sha256)]
    if changed:
        raise CannotStart(f"The prompt {changed[0]} was changed since this run was begun: begin another.")
    return judge


def reopen(run: EvaluationRun, *, for_workers: bool, by: User | None) -> EvaluationRun:
    """Open an ended run again for the replies that failed. Raises `CannotStart`."""
    judge_of(run)
    try:
        return judging.ask_again(run=run, for_workers=for_workers, by=by)
    except judging.CannotAskAgain as error:
        raise CannotStart(str(error)) from None


def scope_of(run: EvaluationRun) -> RetrievalScope:
    """Return what a run may see now: its scope within what whoever began it may see today.

    Raises `CannotStart` when their account is gone.
    """
    kept = scope(**run.scope)
    if not run.started_by_name:
        return kept
    if run.started_by is None:
        raise CannotStart("The account that began this run is gone.")
    return ceilings.effective_scope(run.started_by, kept)
