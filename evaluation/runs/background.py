"""Evaluations by workers: a run is a row, a message only says that one waits."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING
from uuid import UUID

import structlog
from django.db import transaction

from corpus import bells
from corpus.run_claims import holding
from evaluation.actions import runs as action
from evaluation.runs import running
from evaluation.runs.models import EvaluationRun
from evaluation.runs.planning import Plan, opening_of
from evaluation.runs.running import ConditionsChanged

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)

TASK = "evaluation.carry_out"
# Then other messages have their turn, and the run goes on with the next.
TURN_SECONDS = 60.0


def enqueue(plan: Plan, *, by: User | None) -> EvaluationRun:
    """Hand a retrieval evaluation to the workers. Raises `CannotEvaluate`."""
    run = action.start(opening=opening_of(plan, by=by), is_for_workers=True, by=by)
    logger.info("evaluation.queued", run=str(run.pk), results=run.planned)
    transaction.on_commit(lambda: ring(run.pk))
    return run


def ring(run: UUID) -> bool:
    """Wake a worker for a run; False when the broker is down, and the clock follows."""
    return bells.ring_for_run(TASK, run, kind="evaluation")


def work(run_id: UUID) -> None:
    """Carry a run on for a turn, if nobody else does; leave the rest to the next."""
    run = action.claim(run=run_id)
    if run is None:
        return
    try:
        with holding(run):
            is_done = running.carry_out(run, until=monotonic() + TURN_SECONDS)
    except ConditionsChanged as changed:
        action.fail(run=run_id, code=changed.code)
        return
    if not is_done:
        ring(run_id)


def waiting() -> list[UUID]:
    """Return the retrieval runs that workers should carry out, oldest first: whoever is at one keeps it."""
    runs = EvaluationRun.objects.filter(
        kind=EvaluationRun.Kind.RETRIEVAL, state=EvaluationRun.State.RUNNING, is_for_workers=True
    )
    return list(runs.order_by("started_at", "pk").values_list("pk", flat=True))
