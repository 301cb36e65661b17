"""Judged answers over a small corpus, and people who label them."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import Group, User
from django.utils import timezone

from corpus.models import Chunk
from evaluation.actions import calibration as action
from evaluation.actions.judging import text_sha256
from evaluation.judging import results
from evaluation.judging.summary import NAME
from evaluation.models import CalibrationQueue, EvaluationRun, Evidence, Question, RunDocument
from tests.factories.corpus import ChunkFactory, DocumentFactory
from tests.factories.evaluation import (
    QuestionFactory,
    QuestionSetFactory,
    RunConfigurationFactory,
    RunQuestionFactory,
)
from tests.factories.judging import (
    AnswerFactory,
    AnswerOutcomeFactory,
    AnswerSourceFactory,
    AnswersRunFactory,
    JudgementFactory,
)

NOTHING = {"groundedness": None, "citation_accuracy": None, "completeness": None}


def labeller(name: str, group: str = "expert") -> User:
    """Make a person who may label."""
    user = User.objects.create_user(name, password="correct horse battery")
    user.groups.add(Group.objects.get(name=group))
    return user


def judged_run(count: int, *, restricted: Sequence[int] = ()) -> EvaluationRun:
    """Return a finished run of `count` judged answers; those in `restricted` rest on restricted documents."""
    question_set = QuestionSetFactory()
    run = AnswersRunFactory(
        state="finished", finished_at=timezone.now(), question_set=question_set, planned=2 * count,
        done=2 * count, judge="openai/judge-canary",
        scope={"license_classes": ["public", *(["restricted"] if restricted else [])], "buckets": None},
    )  # fmt: skip
    for number in range(count):
        _judged(run, number, "restricted" if number in restricted else "public")
    RunConfigurationFactory(run=run, number=1, name=NAME)
    EvaluationRun.objects.filter(pk=run.pk).update(summary=results.summary(run))
    return run


def _judged(run: EvaluationRun, number: int, license_class: str) -> None:
    document = DocumentFactory(title=f"Paper {number}", license_class=license_class)
    passage: Chunk = ChunkFactory(document=document, ordinal=0, body=f"Passage {number} says {number} L.")
    text = f"It is {number} L [1]."
    question: Question = QuestionFactory(question_set=run.question_set, key=f"question-{number:02}")
    Evidence.objects.create(
        question=question, number=1, phrase=f"says {number} L", document=document,
        document_sha256=document.content_sha256,
    )  # fmt: skip
    asked = RunQuestionFactory(
        run=run, number=number, source=question, key=question.key, question=f"How much is number {number}?",
        reference_answer=f"Reference {number}.",
    )  # fmt: skip
    answer = AnswerFactory(question=asked.question, text=text)
    AnswerSourceFactory(answer=answer, chunk=passage)
    outcome = AnswerOutcomeFactory(question=asked, answer=answer, answer_sha256=text_sha256(text), sources=1)
    grade = number % 3
    JudgementFactory(
        outcome=outcome, groundedness=grade, citation_accuracy=grade, completeness=(number + 1) % 3
    )
    JudgementFactory(outcome=outcome, kind="correctness", correctness=grade, **NOTHING)
    RunDocument.objects.create(run=run, document_ref=document.pk)


def sample(count: int, *, size: int = 40, restricted: Sequence[int] = ()) -> CalibrationQueue:
    """Return a sample of such a run."""
    return action.draw(run=judged_run(count, restricted=restricted), size=size, seed=1, by=None)
