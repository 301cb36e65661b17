"""The database holds to what judged answers and labels promise."""

from typing import Any

import pytest
from django.db import IntegrityError

from evaluation.models import CalibrationFinish
from tests.factories.judging import (
    AnswerOutcomeFactory,
    ItemFactory,
    JudgementFactory,
    LabelFactory,
    QueueFactory,
)

pytestmark = pytest.mark.django_db
NOTHING = {"groundedness": None, "citation_accuracy": None, "completeness": None}


@pytest.mark.parametrize("values", [{"error_code": "timeout"}, {"answer_sha256": ""}, {"abstained": None}])
def test_an_outcome_is_an_answer_or_a_failure(values: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match="is_an_answer_or_a_failure"):
        AnswerOutcomeFactory(**values)


@pytest.mark.parametrize(
    "values",
    [
        {"groundedness": 3},
        {"completeness": -1},
        {"citation_accuracy": None},
        {"correctness": 1},
        {"kind": "correctness"},
        {"kind": "correctness", "correctness": 1},
        {**NOTHING},
        {"error_code": "timeout"},
        {**NOTHING, "error_code": "timeout", "clamped": ["groundedness"]},
        {**NOTHING, "kind": "other", "error_code": ""},
    ],
)
def test_a_judgement_grades_exactly_its_pass_or_says_why_not(values: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match="grades_its_pass_or_says_why_not"):
        JudgementFactory(**values)


def test_a_judgement_may_be_a_failure() -> None:
    assert JudgementFactory(**NOTHING, error_code="timeout").pk


def test_an_answer_is_judged_once_in_each_pass() -> None:
    first = JudgementFactory()

    with pytest.raises(IntegrityError, match="once_of_each_kind"):
        JudgementFactory(outcome=first.outcome)


def test_a_sample_is_drawn_once_for_a_seed() -> None:
    first = QueueFactory()

    with pytest.raises(IntegrityError, match="calibrationqueue_drawn_once"):
        QueueFactory(run=first.run, seed=first.seed)


def test_an_answer_is_drawn_once_into_a_sample() -> None:
    first = ItemFactory()

    with pytest.raises(IntegrityError, match="calibrationitem_drawn_once"):
        ItemFactory(queue=first.queue, outcome=first.outcome)


def test_items_are_numbered_once() -> None:
    first = ItemFactory()

    with pytest.raises(IntegrityError, match="number_is_unique"):
        ItemFactory(queue=first.queue, number=first.number)


@pytest.mark.parametrize("values", [{"correctness": None}, {"correctness": 3}, {"skipped": "not my field"}])
def test_a_label_grades_everything_or_says_why_not(values: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match="grades_all_or_says_why_not"):
        LabelFactory(**values)


def test_a_person_labels_an_item_once() -> None:
    first = LabelFactory()

    with pytest.raises(IntegrityError, match="once_for_each_person"):
        LabelFactory(item=first.item, labeller_name=first.labeller_name)


def test_an_item_is_adjudicated_once() -> None:
    first = LabelFactory(is_adjudication=True)

    with pytest.raises(IntegrityError, match="adjudicated_once"):
        LabelFactory(item=first.item, is_adjudication=True)


def test_a_label_has_a_labeller() -> None:
    with pytest.raises(IntegrityError, match="has_a_labeller"):
        LabelFactory(labeller_name="")


def test_a_label_is_changed_after_it_was_given() -> None:
    label = LabelFactory()
    label.refresh_from_db()
    label.changed_at = label.at.replace(year=2020)

    with pytest.raises(IntegrityError, match="changed_after_it_was_given"):
        label.save()


def test_a_person_finishes_a_sample_once() -> None:
    queue = QueueFactory()
    CalibrationFinish.objects.create(queue=queue, person_name="ada")

    with pytest.raises(IntegrityError, match="calibrationfinish_once_for_each_person"):
        CalibrationFinish.objects.create(queue=queue, person_name="ada")


def test_who_finishes_has_a_name() -> None:
    with pytest.raises(IntegrityError, match="has_a_person"):
        CalibrationFinish.objects.create(queue=QueueFactory(), person_name="")
