"""Which run a page may show to whoever asks for it."""

from __future__ import annotations

import uuid

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from corpus.signed_in import person
from evaluation.calibration.models import CalibrationQueue
from evaluation.calibration.queries import blinding
from evaluation.runs.models import EvaluationRun
from evaluation.runs.visibility import known_runs

VIEW, ADD = "evaluation.view_evaluationrun", "evaluation.add_evaluationrun"


class StillBlind(PermissionDenied):
    """Whoever asks still grades answers of this run: they see the judge's grades when their own are final."""

    def __init__(self, queue: CalibrationQueue) -> None:
        super().__init__("grade first")
        self.queue = queue


def found_run(request: HttpRequest, evaluation_id: uuid.UUID) -> EvaluationRun:
    """Return a run that the asker may know of. Raises `Http404` and `StillBlind`."""
    found = known_runs(person(request)).filter(pk=evaluation_id).first()
    if found is None:
        raise Http404
    check_not_blind(request, found)
    return found


def check_not_blind(request: HttpRequest, run: EvaluationRun) -> None:
    """Raise `StillBlind` while the asker still grades answers of `run`."""
    queue = blinding(run, person(request))
    if queue is not None:
        raise StillBlind(queue)
