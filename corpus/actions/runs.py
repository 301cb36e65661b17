"""The record of an ingestion: what was asked for, what became of each file, and how people steer it."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import structlog
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from corpus import bells, jobs
from corpus.jobs import Kind
from corpus.models import IngestionItem, IngestionRun, Job, StageResult
from corpus.webhooks import actions as webhooks
from corpus.webhooks.events import Event

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)
State = IngestionRun.State
Outcome = IngestionItem.Outcome


class RunCancelled(Exception):
    """Somebody has cancelled the run: it takes no more files."""


@transaction.atomic
def start(
    *, origin: str, names: Sequence[str], parameters: dict[str, Any], by: User | None = None
) -> tuple[IngestionRun, list[IngestionItem]]:
    """Record a run of this process and one waiting item for each file, in order."""
    process = {"host": platform.node(), "pid": os.getpid()}
    run = IngestionRun.objects.create(
        started_by=by, origin=origin, parameters={**parameters, "process": process}
    )
    items = IngestionItem.objects.bulk_create(
        [IngestionItem(run=run, path=name) for name in names], batch_size=500
    )
    return run, items


def open_for_workers(*, origin: str, parameters: dict[str, Any], by: User | None) -> IngestionRun:
    """Record a run that no process owns."""
    run = planned_for_workers(origin=origin, parameters=parameters, by=by)
    run.save(force_insert=True)
    return run


def planned_for_workers(*, origin: str, parameters: dict[str, Any], by: User | None) -> IngestionRun:
    """Return a run that no process will own, still to be recorded."""
    return IngestionRun(started_by=by, origin=origin, parameters={**parameters, "process": None})


def is_for_workers(run: IngestionRun) -> bool:
    """Whether workers carry the run out, so that it can be cancelled and retried from elsewhere."""
    return "process" in run.parameters and run.parameters["process"] is None


def locked(run: IngestionRun) -> IngestionRun:
    """Return the run as it is now, locked in the caller's transaction.

    Whoever changes what a run still has to do holds this lock, and takes it after that of a job.
    """
    return IngestionRun.objects.select_for_update().get(pk=run.pk)


def reopen(run: IngestionRun) -> None:
    """Let a run take more files, in the caller's transaction; raise `RunCancelled`."""
    now = locked(run)
    if now.state == State.CANCELLED:
        raise RunCancelled
    if now.state != State.RUNNING:
        _set_state(now, State.RUNNING)


def settle_when_done(run: IngestionRun) -> None:
    """Queue what comes after the last file, if all have ended; the caller holds the run's lock."""
    job = jobs.queue_settling_when_done(run=run.pk)
    bells.ring_on_commit(Kind.SETTLE, [job] if job else [])


@transaction.atomic
def cancel(*, run: IngestionRun, by: User | None) -> int:
    """Stop a run after the files at hand; return how many were still to come.

    What is stored stays. Files that were not begun stay waiting, so that the run can be taken up again.
    """
    now = locked(run)
    if now.state != State.RUNNING:
        return 0
    queued = Job.objects.filter(run=run, state=Job.State.QUEUED)
    stopped = queued.exclude(kind=Kind.SETTLE).count()
    queued.update(state=Job.State.CANCELLED)
    _forget_stages(run)
    _set_state(now, State.CANCELLED)
    settle_when_done(run)
    logger.info("run.cancelled", run=str(run.pk), by=by.pk if by else None, files=stopped)
    return stopped


@transaction.atomic
def retry(*, run: IngestionRun, by: User | None) -> int:
    """Queue again what failed and what a cancellation left out; return how many files that is."""
    now = locked(run)
    again = Job.objects.filter(run=run, kind=Kind.PARSE, item__outcome__in=[Outcome.FAILED, Outcome.WAITING])
    # Something of the file may be under way: then there is nothing to do again yet.
    busy = Job.objects.filter(run=run, state__in=jobs.OPEN_STATES, item__isnull=False).values("item_id")
    chosen = list(again.exclude(item_id__in=busy).order_by("item_id", "id").values_list("pk", "item_id"))
    if not chosen:
        return 0
    items = [item for _, item in chosen]
    Job.objects.filter(pk__in=[job for job, _ in chosen]).update(
        state=Job.State.QUEUED,
        attempt_limit=F("attempt") + jobs.ATTEMPTS,
        interruptions=0,
        worker="",
        queued_at=Now(),
    )
    IngestionItem.objects.filter(pk__in=items).update(
        outcome=Outcome.WAITING, reason="", detail="", seconds=None
    )
    _set_state(now, State.RUNNING)
    bells.ring_on_commit(Kind.PARSE, [job for job, _ in chosen])
    logger.info("run.retried", run=str(run.pk), by=by.pk if by else None, files=len(chosen))
    return len(chosen)


def settled(run: IngestionRun) -> None:
    """Record that nothing is left to do, in the caller's transaction, which holds the run's lock."""
    _forget_stages(run)
    # What was said about files that are in stands on their documents now.
    done = [Outcome.READY, Outcome.DUPLICATE, Outcome.NEEDS_OCR]
    IngestionItem.objects.filter(run=run, outcome__in=done).exclude(described={}).update(described={})
    if run.state == State.RUNNING:
        finish(run, State.FINISHED)


def _forget_stages(run: IngestionRun) -> None:
    idle = Job.objects.filter(run=run, kind=Kind.EMBED).exclude(state__in=jobs.OPEN_STATES)
    StageResult.objects.filter(item__in=idle.values("item")).delete()


def _set_state(run: IngestionRun, state: IngestionRun.State) -> None:
    """Record the state and tell webhooks of one that ends the run, in the caller's transaction."""
    run.state = state
    run.finished_at = None if state == State.RUNNING else timezone.now()
    run.save(update_fields=["state", "finished_at"])
    if state != State.RUNNING:
        webhooks.announce(event=Event.INGEST_FINISHED, kind="ingestion", subject=run.pk)


@transaction.atomic
def finish(run: IngestionRun, state: IngestionRun.State) -> None:
    """Record how a run ended."""
    _set_state(run, state)


def close_abandoned() -> int:
    """Mark runs of processes of this machine that no longer live as failed; return how many."""
    closed = 0
    for run in IngestionRun.objects.filter(state=State.RUNNING).order_by("started_at", "id"):
        process = run.parameters.get("process") or {}
        if process.get("host") == platform.node() and not _is_alive(process.get("pid", 0)):
            finish(run, State.FAILED)
            closed += 1
    return closed


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
