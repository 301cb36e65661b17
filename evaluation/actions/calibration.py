"""Drawing samples, and keeping what people make of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from corpus.roles import EXPERT
from evaluation.calibration import queries, sampling, standing
from evaluation.calibration.models import (
    CalibrationFinish,
    CalibrationItem,
    CalibrationLabel,
    CalibrationQueue,
)
from evaluation.judging.models import AnswerOutcome
from evaluation.judging.rubric import DIMENSIONS, GRADES
from evaluation.runs.models import EvaluationRun

if TYPE_CHECKING:
    from django.contrib.auth.models import User

PERMISSION = queries.LABELLING
DRAWING = "evaluation.add_calibrationqueue"
LONGEST_REASON = 300


class CalibrationError(ValueError):
    """What was asked for cannot be done; the message is for whoever asked."""


class NotYours(CalibrationError):
    """The item is nothing this person is to label, or not any more."""

    def __init__(self) -> None:
        super().__init__("This item needs nothing more from you: others have labelled it, or it is decided.")


def draw(*, run: EvaluationRun, size: int, seed: int, by: User | None) -> CalibrationQueue:
    """Draw a sample of the answers of a finished run. Raises `CalibrationError`."""
    if run.kind != EvaluationRun.Kind.ANSWERS or run.state != EvaluationRun.State.FINISHED:
        raise CalibrationError("Only answers of a run that has finished can be labelled.")
    outcomes = AnswerOutcome.objects.filter(question__run=run, error_code="", answer__isnull=False)
    drawn = sampling.draw(list(outcomes.order_by("question__key", "pk")), size=size, seed=seed)
    if not drawn:
        raise CalibrationError("This run has no answers that could be labelled.")
    try:
        with transaction.atomic():
            queue = CalibrationQueue.objects.create(
                run=run, seed=seed, created_by=by, created_by_name="" if by is None else by.get_username()
            )
            CalibrationItem.objects.bulk_create(
                CalibrationItem(queue=queue, number=number, outcome=outcome)
                for number, outcome in enumerate(drawn, start=1)
            )
    except IntegrityError:
        raise CalibrationError(f"The seed {seed} has drawn a sample of this run already.") from None
    return queue


@transaction.atomic
def label(*, item: CalibrationItem, grades: Mapping[str, int], by: User) -> CalibrationLabel:
    """Keep the grades of `by`, who may change them until somebody has decided between labels.

    Raises `NotYours`, and `CalibrationError` for grades that are not those of the rubric.
    """
    if set(grades) != set(DIMENSIONS) or any(grade not in GRADES for grade in grades.values()):
        raise CalibrationError("Every dimension gets a grade of 0, 1 or 2.")
    return _keep(item, by, {**grades, "skipped": ""})


@transaction.atomic
def skip(*, item: CalibrationItem, reason: str, by: User) -> CalibrationLabel:
    """Leave an item to others and say why. Raises `NotYours`, and `CalibrationError` without a reason."""
    words = " ".join(reason.split())
    if not words or len(words) > LONGEST_REASON or "\0" in words:
        raise CalibrationError(f"Say in at most {LONGEST_REASON} characters why you skip this item.")
    return _keep(item, by, {**dict.fromkeys(DIMENSIONS), "skipped": words})


@transaction.atomic
def finish(*, queue: CalibrationQueue, by: User) -> None:
    """Make the grades of `by` final, so that they may see those of others. Raises `CalibrationError`."""
    CalibrationQueue.objects.select_for_update().get(pk=queue.pk)
    if queries.desk(queue, by).left:
        raise CalibrationError("You have items left: grade them, or skip them with a reason, first.")
    CalibrationFinish.objects.get_or_create(queue=queue, person_name=by.get_username())


def _keep(item: CalibrationItem, by: User, values: dict[str, object]) -> CalibrationLabel:
    # The item is what two people who finish at once meet at.
    if not queries.visible_items(by).filter(pk=item.pk).exists():
        raise NotYours
    CalibrationItem.objects.select_for_update().get(pk=item.pk)
    if queries.has_finished(item.queue, by):
        raise NotYours
    rows = list(CalibrationLabel.objects.filter(item=item).order_by("pk"))
    labels = [queries.label_of(row) for row in rows]
    name = by.get_username()
    own = next((row for row in rows if row.labeller_name == name), None)
    if own is None:
        return _give(item, by, labels, values)
    if standing.adjudication(labels) is not None and not own.is_adjudication:
        raise NotYours
    for field, value in values.items():
        setattr(own, field, value)
    own.changed_at = Now()
    own.save()
    own.refresh_from_db()
    return own


def _give(
    item: CalibrationItem, by: User, labels: list[standing.Label], values: dict[str, object]
) -> CalibrationLabel:
    name = by.get_username()
    decides = standing.wants_adjudication(labels, name)
    if not decides and not standing.wants_label(labels, name):
        raise NotYours
    return CalibrationLabel.objects.create(
        item=item,
        labeller=by,
        labeller_name=name,
        is_expert=by.groups.filter(name=EXPERT).exists(),
        is_adjudication=decides,
        **values,
    )
