"""A run shows to whoever may see all that it searched, asked and found, and to nobody else."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, User

from corpus.ceilings import effective_scope
from corpus.models import Document, GroupCeiling
from corpus.scope import RetrievalScope, scope
from evaluation.models import EvaluationRun, Question
from evaluation.runs.visibility import known_runs
from tests.factories.corpus import DocumentFactory
from tests.factories.evaluation import (
    EvaluationRunFactory,
    EvidenceFactory,
    QuestionFactory,
    RunQuestionFactory,
)

pytestmark = pytest.mark.django_db


def run_of(within: RetrievalScope) -> EvaluationRun:
    run: EvaluationRun = EvaluationRunFactory(scope=within.as_dict())
    return run


@pytest.fixture
def run(expert: User) -> EvaluationRun:
    return run_of(effective_scope(expert, RetrievalScope()))


def sees(user: User, run: EvaluationRun) -> bool:
    return known_runs(user).filter(pk=run.pk).exists()


def test_whoever_has_the_scope_sees_the_run(run: EvaluationRun, expert: User, librarian: User) -> None:
    assert sees(expert, run)
    assert sees(librarian, run)


def test_the_operator_s_run_over_everything_shows_to_who_may_see_everything(
    expert: User, librarian: User
) -> None:
    run = run_of(RetrievalScope())

    assert not sees(expert, run)
    assert sees(librarian, run)


def test_a_bucket_out_of_reach_hides_the_run(expert: User) -> None:
    ceiling = GroupCeiling.objects.get(group=Group.objects.get(name="expert"))
    ceiling.all_buckets, ceiling.buckets = False, ["open"]
    ceiling.save()
    classes = list(ceiling.license_classes)

    assert sees(expert, run_of(scope(license_classes=classes, buckets=["open"])))
    assert not sees(expert, run_of(scope(license_classes=classes, buckets=["open", "other"])))
    assert not sees(expert, run_of(scope(license_classes=classes)))


def test_a_document_that_went_out_of_reach_hides_the_run(
    run: EvaluationRun, expert: User, librarian: User
) -> None:
    document = DocumentFactory()
    run.documents.create(document_ref=document.pk)
    assert sees(expert, run)

    Document.objects.update(license_class="restricted")

    assert not sees(expert, run)
    assert sees(librarian, run)


def test_a_document_that_is_gone_hides_the_run_from_who_may_not_see_unknown_rights(
    run: EvaluationRun, expert: User, librarian: User
) -> None:
    run.documents.create(document_ref=uuid4())

    assert not sees(expert, run)
    assert sees(librarian, run)


def test_a_question_that_went_out_of_reach_hides_the_run(
    run: EvaluationRun, expert: User, librarian: User
) -> None:
    document = DocumentFactory()
    evidence = EvidenceFactory(document=document)
    RunQuestionFactory(run=run, source=evidence.question)
    RunQuestionFactory(run=run, source=QuestionFactory())
    assert sees(expert, run)

    Document.objects.update(license_class="unknown")

    assert not sees(expert, run)
    assert sees(librarian, run)


def test_a_question_that_is_gone_hides_the_run(run: EvaluationRun, expert: User, librarian: User) -> None:
    RunQuestionFactory(run=run, source=QuestionFactory())
    Question.objects.all().delete()

    assert not sees(expert, run)
    assert sees(librarian, run)
