"""Taking files of labels into a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction

from evaluation.calibration.files import LabelFileError, Line
from evaluation.calibration.models import CalibrationItem, CalibrationLabel, CalibrationQueue
from evaluation.judging.rubric import DIMENSIONS
from evaluation.questions import Problem

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of the labels of a file. Those about other answers are left out."""

    added: int = 0
    unchanged: int = 0
    elsewhere: int = 0


@transaction.atomic
def import_labels(*, queue: CalibrationQueue, lines: Sequence[Line], by: User | None) -> Imported:
    """Add the labels of a file to the answers they were given to; all of them or, on a mistake, none.

    `by` is on whose word they come; None is the operator. A label never replaces another: raises
    `LabelFileError` where a person has given this answer other grades, or it is adjudicated already.
    """
    items = _items(queue)
    counts = {"added": 0, "unchanged": 0, "elsewhere": 0}
    problems = []
    for line in lines:
        item = items.get((line.label.question, line.label.answer_sha256))
        try:
            counts["elsewhere" if item is None else _take(item, line)] += 1
        except _Other as other:
            problems.append(Problem(line.number, str(other)))
    if problems:
        raise LabelFileError(tuple(problems))
    return Imported(**counts)


class _Other(ValueError):
    pass


def _items(queue: CalibrationQueue) -> dict[tuple[str, str], CalibrationItem]:
    rows = queue.items.select_related("outcome__question").select_for_update(of=("self",))
    return {
        (row.outcome.question.key, row.outcome.answer_sha256): row for row in rows.order_by("number", "pk")
    }


def _take(item: CalibrationItem, line: Line) -> str:
    given = line.label
    grades = {name: getattr(given, name) for name in DIMENSIONS}
    kept = CalibrationLabel.objects.filter(item=item, labeller_name=given.labeller).first()
    if kept is not None:
        same = {name: getattr(kept, name) for name in DIMENSIONS} == grades and kept.skipped == given.skipped
        if not same:
            raise _Other(f"{given.labeller} has labelled this answer already, in another way")
        return "unchanged"
    try:
        with transaction.atomic():
            CalibrationLabel.objects.create(
                item=item,
                labeller_name=given.labeller,
                is_expert=given.expert,
                is_adjudication=given.adjudication,
                skipped=given.skipped,
                at=given.at,
                **grades,
            )
    except IntegrityError:
        raise _Other("somebody has decided about this answer already") from None
    return "added"
