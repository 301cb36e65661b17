"""Runs of answers by workers: a run is a row, a message only says that one waits."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING
from uuid import UUID

import structlog
from django.db import transaction

from answers.writers import EngineUnavailable
from corpus import bells
from corpus.prompt_files import InvalidPrompt
from corpus.run_claims import RunLost, holding
from corpus.usage.budget import Cap
from evaluation.actions import runs as action
from evaluation.judging import running, starting
from evaluation.judging.starting import CannotStart, Wanted
from evaluation.runs.models import EvaluationRun

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)

TASK = "evaluation.judge_answers"
# Then other messages have their turn, and the run goes on with the next.
TURN_SECONDS = 120.0


def enqueue(*, wanted: Wanted, by: User | None) -> EvaluationRun:
    """Hand a run of answers to the workers. Raises what `starting.start` raises."""
    run = starting.start(wanted=wanted, is_for_workers=True, by=by)
    logger.info("evaluation.run_queued", run=str(run.pk), replies=run.planned)
    transaction.on_commit(lambda: ring(run.pk))
    return run


def ask_again(run: EvaluationRun, *, by: User | None) -> EvaluationRun:
    """Have the workers ask once more for the replies that failed. Raises `CannotStart`."""
    opened = starting.reopen(run, for_workers=True, by=by)
    transaction.on_commit(lambda: ring(run.pk))
    return opened


def go_on(run: EvaluationRun, *, cap: Cap, by: User | None) -> None:
    """Have the workers go on with a run that stopped at its cap. Raises `action.CannotRaise`."""
    if not run.is_for_workers:
        raise action.CannotRaise("This run belongs to a command: go on with sci-rag eval answers --resume.")
    action.raise_cap(run=run.pk, cap=cap, by=by)
    transaction.on_commit(lambda: ring(run.pk))


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
            ended = running.carry_out(run, until=monotonic() + TURN_SECONDS)
    except RunLost:
        logger.warning("evaluation.run_lost", run=str(run_id))
        return
    except (CannotStart, EngineUnavailable, InvalidPrompt) as error:
        logger.warning("evaluation.run_failed", run=str(run_id), kind=type(error).__name__)
        action.fail(run=run_id, code="not_configured")
        return
    if ended is None:
        ring(run_id)


def waiting() -> list[UUID]:
    """Return the runs of answers that workers should carry out, oldest first."""
    runs = EvaluationRun.objects.filter(
        state=EvaluationRun.State.RUNNING, kind=EvaluationRun.Kind.ANSWERS, is_for_workers=True
    )
    return list(runs.order_by("started_at", "pk").values_list("pk", flat=True))
