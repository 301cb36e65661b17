"""The database holds to what ground truth and runs promise."""

from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, connection
from django.utils import timezone

from evaluation.models import Evidence, Question, QuestionEvent
from tests.factories.evaluation import (
    EvaluationRunFactory,
    EvidenceFactory,
    QuestionFactory,
    QuestionSetFactory,
    RunConfigurationFactory,
    RunQuestionFactory,
)

pytestmark = pytest.mark.django_db


def signed(question: Question, **values: Any) -> int:
    fields = {
        "signed_at": timezone.now(),
        "signed_by_name": "ada",
        "signed_sha256": question.content_sha256,
    } | values
    return Question.objects.filter(pk=question.pk).update(**fields)


@pytest.mark.parametrize("name", ["", "With Capitals", "-begins-badly", "white space"])
def test_sets_and_questions_have_identifiers_for_names(name: str) -> None:
    with pytest.raises(IntegrityError, match="name_is_an_identifier"):
        QuestionSetFactory(name=name)


def test_a_key_is_an_identifier() -> None:
    with pytest.raises(IntegrityError, match="key_is_an_identifier"):
        QuestionFactory(key="Not One")


def test_a_key_stands_once_in_its_set() -> None:
    first = QuestionFactory()
    QuestionFactory(key=first.key)

    with pytest.raises(IntegrityError, match="key_is_unique_in_its_set"):
        QuestionFactory(question_set=first.question_set, key=first.key)


@pytest.mark.parametrize("empty", ["question", "reference_answer"])
def test_a_question_has_words_and_an_answer(empty: str) -> None:
    with pytest.raises(IntegrityError, match="has_question_and_answer"):
        QuestionFactory(**{empty: ""}, content_sha256="0" * 64)


@pytest.mark.parametrize(("field", "rule"), [("kind", "kind_is_known"), ("split", "split_is_known")])
def test_kind_and_split_are_known_ones(field: str, rule: str) -> None:
    with pytest.raises(IntegrityError, match=rule):
        QuestionFactory(**{field: "other"})


def test_a_signature_has_a_name_a_time_and_the_hash_of_the_question() -> None:
    assert signed(QuestionFactory()) == 1


@pytest.mark.parametrize(
    "change",
    [{"signed_by_name": ""}, {"signed_at": None}, {"signed_sha256": "f" * 64}, {"signed_sha256": ""}],
)
def test_half_a_signature_is_none(change: dict[str, Any]) -> None:
    question = QuestionFactory()

    with pytest.raises(IntegrityError, match="signed_as_it_is_now"):
        signed(question, **change)


def test_a_signed_question_cannot_be_changed_under_its_signature() -> None:
    question = QuestionFactory()
    signed(question)

    with pytest.raises(IntegrityError, match="signed_as_it_is_now"):
        Question.objects.filter(pk=question.pk).update(content_sha256="f" * 64)


def test_evidence_names_something() -> None:
    with pytest.raises(IntegrityError, match="names_something"):
        EvidenceFactory(phrase="")


def test_a_passage_is_named_with_its_document() -> None:
    with pytest.raises(IntegrityError, match="a_passage_has_a_document"):
        EvidenceFactory(passage_sha256="0" * 64)


def test_evidence_is_numbered_once() -> None:
    row = EvidenceFactory()

    with pytest.raises(IntegrityError, match="number_is_unique"):
        EvidenceFactory(question=row.question, number=row.number)


@pytest.mark.parametrize("change", ["update", "delete"])
def test_the_log_of_questions_only_grows(change: str) -> None:
    event = QuestionEvent.objects.create(question=QuestionFactory(), kind="created", content_sha256="0" * 64)
    rows = QuestionEvent.objects.filter(pk=event.pk)

    with pytest.raises(DatabaseError, match="Cannot update or delete rows"):
        rows.update(note="else") if change == "update" else rows.delete()


def test_the_log_of_questions_cannot_be_emptied() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE evaluation_questionevent ENABLE TRIGGER ALL")
        with pytest.raises(DatabaseError, match="Cannot truncate the log of questions"):
            cursor.execute("TRUNCATE evaluation_questionevent")


def test_a_signature_in_the_log_has_a_name() -> None:
    with pytest.raises(IntegrityError, match="a_signature_has_a_name"):
        QuestionEvent.objects.create(question=QuestionFactory(), kind="signed", content_sha256="0" * 64)


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"state": "finished"}, "ended_when_not_running"),
        ({"finished_at": "2026-01-01T00:00Z"}, "ended_when_not_running"),
        ({"fingerprint": ""}, "says_what_was_measured"),
        ({"questions_sha256": ""}, "says_what_was_measured"),
        ({"code_version": ""}, "says_what_was_measured"),
        ({"done": 1}, "done_stays_within_planned"),
        ({"planned": 2, "done": 1, "failed": 2}, "done_stays_within_planned"),
        ({"judge": "some-model"}, "retrieval_has_no_judge"),
        ({"summary": {"n": 1}}, "numbers_are_of_a_finished_run"),
    ],
)
def test_a_run_that_contradicts_itself_is_refused(values: dict[str, Any], rule: str) -> None:
    with pytest.raises(IntegrityError, match=rule):
        EvaluationRunFactory(**values)


def test_a_run_asks_a_question_once() -> None:
    asked = RunQuestionFactory()

    with pytest.raises(IntegrityError, match="asked_once"):
        RunQuestionFactory(run=asked.run, key=asked.key)


def test_a_run_has_each_configuration_once() -> None:
    row = RunConfigurationFactory()

    with pytest.raises(IntegrityError, match="name_is_unique"):
        RunConfigurationFactory(run=row.run, name=row.name)


def test_a_configuration_has_one_outcome_for_a_question() -> None:
    asked = RunQuestionFactory()
    row = RunConfigurationFactory(run=asked.run)
    row.outcomes.create(question=asked)

    with pytest.raises(IntegrityError, match="once_per_configuration"):
        row.outcomes.create(question=asked)


def test_what_failed_has_found_nothing() -> None:
    asked = RunQuestionFactory()
    row = RunConfigurationFactory(run=asked.run)

    with pytest.raises(IntegrityError, match="a_failure_found_nothing"):
        row.outcomes.create(question=asked, error_code="timeout", measures={"hit@5": 1.0})


def test_a_document_is_named_once_by_a_run() -> None:
    run = EvaluationRunFactory()
    document = run.id
    run.documents.create(document_ref=document)

    with pytest.raises(IntegrityError, match="named_once"):
        run.documents.create(document_ref=document)


def test_a_baseline_has_an_identifier_and_keeps_its_run() -> None:
    run = EvaluationRunFactory()
    run.baselines.create(name="main")

    with pytest.raises(IntegrityError, match="name_is_an_identifier"):
        run.baselines.create(name="The Main One")


def test_a_phrase_stays_with_its_question_when_its_document_goes_out_of_sight() -> None:
    row = EvidenceFactory(document_sha256="a" * 64)

    assert Evidence.objects.get(pk=row.pk).document is None
