"""The record of long work on a campaign: begun, claimed, counted, ended. The row is the truth.

A claim counts the attempt and sets a lease. Every effect is written in a transaction that holds the run's row
and finds the attempt still its own: after a cancellation, or when somebody took the run over, nothing more is
written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from corpus import jobs, leases
from corpus.campaigns.doers import named
from corpus.campaigns.models import Campaign, CampaignRun
from corpus.usage import capping
from corpus.usage.budget import Cap

if TYPE_CHECKING:
    from corpus.campaigns.doers import Doer

logger = structlog.get_logger(__name__)

Stage = CampaignRun.Stage
State = CampaignRun.State

# The one code that is no failure: what may be used was used.
CAP_REACHED = "cap_reached"
# Between its start and its claim a command's run is nobody's.
_JUST_BEGUN = timedelta(minutes=1)


class CampaignBusy(Exception):
    """Something else is being done to the campaign."""

    def __init__(self, run: CampaignRun) -> None:
        super().__init__(
            f"{run.campaign.name} is busy: {run.get_stage_display().lower()} since "
            f"{run.started_at:%Y-%m-%d %H:%M}. Wait for it to end, or cancel it."
        )
        self.run = run


class RunStopped(Exception):
    """The run was cancelled, or somebody else carries it out: nothing of this attempt may be written."""


@dataclass(frozen=True, slots=True)
class Held:
    """One attempt at a run, held by this process."""

    run: UUID
    attempt: int


@transaction.atomic
def start(
    *,
    campaign: Campaign,
    stage: CampaignRun.Stage,
    parameters: dict[str, Any],
    by: Doer,
    is_for_workers: bool,
    cap: Cap | None = None,
) -> CampaignRun:
    """Record a run, or return the same one of before that nobody carries out: it goes on.

    Raises `CampaignBusy` when somebody is at the campaign, or workers are to be.
    """
    # Two starts at once wait for each other here.
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    running = CampaignRun.objects.select_for_update().filter(campaign=campaign, state=State.RUNNING).first()
    limits = capping.fields_of(capping.cap_of_a_run(Cap() if cap is None else cap))
    if running is not None:
        is_same = running.stage == stage and running.parameters == parameters
        # What workers are to do they will do: nothing of it is dropped for something else.
        if is_alive(running) or (running.is_for_workers and not is_same):
            raise CampaignBusy(running)
        if is_same:
            return _taken_up(running, limits, is_for_workers=is_for_workers)
        _end(running.pk, State.FAILED, code="abandoned")
    run = CampaignRun.objects.create(
        campaign=campaign,
        stage=stage,
        parameters=parameters,
        is_for_workers=is_for_workers,
        **limits,
        **named(by, "started_by"),
    )
    run.refresh_from_db()
    logger.info("campaign.run_started", run=str(run.pk), stage=stage.value)
    return run


def _taken_up(run: CampaignRun, limits: dict[str, Any], *, is_for_workers: bool) -> CampaignRun:
    run.is_for_workers = is_for_workers
    for name, value in limits.items():
        setattr(run, name, value)
    run.save(update_fields=["is_for_workers", *limits])
    return run


def is_alive(run: CampaignRun) -> bool:
    """Whether a process is at the run. The lease is held against the clock it was set by, the database's."""
    if run.lease_until is None or jobs.is_of_a_dead_process(run.worker):
        return False
    return CampaignRun.objects.filter(pk=run.pk, lease_until__gte=Now()).exists()


@transaction.atomic
def claim(*, run: UUID) -> Held | None:
    """Take a run that nobody carries out; None when somebody does, or it has ended."""
    row = CampaignRun.objects.select_for_update(skip_locked=True).filter(pk=run, state=State.RUNNING).first()
    if row is None or is_alive(row):
        return None
    CampaignRun.objects.filter(pk=run).update(
        attempt=F("attempt") + 1, worker=jobs.this_worker(), lease_until=Now() + _lease()
    )
    return Held(run, row.attempt + 1)


@contextmanager
def effect(held: Held) -> Iterator[CampaignRun]:
    """Write what is written inside together with the run's row; raise `RunStopped` when it is not ours.

    The lease is renewed, and what the block sets on the row is saved.
    """
    with transaction.atomic():
        row = CampaignRun.objects.select_for_update().get(pk=held.run)
        if row.state != State.RUNNING or row.attempt != held.attempt:
            raise RunStopped
        yield row
        row.lease_until = Now() + _lease()  # as the database counts
        row.save(update_fields=["total", "done", "failed", "last_error_code", "ingestion", "lease_until"])


@contextmanager
def holding(held: Held) -> Iterator[None]:
    """Keep the claim as long as the block runs, and let go of what is not ended by then."""
    with leases.renewed(lambda: _renew(held), run=str(held.run), attempt=held.attempt):
        try:
            yield
        finally:
            _mine(held).update(lease_until=None, worker="")


def _renew(held: Held) -> bool:
    return bool(_mine(held).update(lease_until=Now() + _lease()))


def still_mine(held: Held) -> None:
    """Raise `RunStopped` when the run was cancelled or is somebody else's: asked before a long step."""
    if not _renew(held):
        raise RunStopped


def _lease() -> timedelta:
    return timedelta(seconds=settings.SCI_RAG_LEASE_SECONDS)


def finish(held: Held, *, code: str = "") -> None:
    """End a run; with a code it could not go on, and starting it again goes on where it stopped."""
    ended = State.FAILED if code else State.FINISHED
    state = State.CAPPED if code == CAP_REACHED else ended
    _end(held.run, state, code=code, attempt=held.attempt)


def _mine(held: Held) -> QuerySet[CampaignRun]:
    return CampaignRun.objects.filter(pk=held.run, attempt=held.attempt, state=State.RUNNING)


def cancel(*, run: CampaignRun, by: Doer) -> bool:
    """Stop a run after the step at hand; False when it has ended. What it did stays."""
    is_cancelled = _end(run.pk, State.CANCELLED, code="")
    if is_cancelled:
        logger.info("campaign.run_cancelled", run=str(run.pk))
    return is_cancelled


def _end(run: UUID, state: CampaignRun.State, *, code: str, attempt: int | None = None) -> bool:
    """End a run that goes on; with an `attempt`, only as long as nobody has claimed it after that."""
    running = CampaignRun.objects.filter(pk=run, state=State.RUNNING)
    if attempt is not None:
        running = running.filter(attempt=attempt)
    ended = running.update(
        state=state, finished_at=Now(), lease_until=None, worker="", last_error_code=code[:60]
    )
    if ended:
        logger.info("campaign.run_ended", run=str(run), state=state.value, code=code)
    return bool(ended)


def waiting() -> list[UUID]:
    """Return the runs that workers should carry out and nobody is at, the oldest first."""
    rows = CampaignRun.objects.filter(state=State.RUNNING, is_for_workers=True)
    return [row.pk for row in rows.order_by("started_at", "id") if not is_alive(row)]


def close_abandoned() -> int:
    """End runs of commands whose process is gone; return how many. The same command goes on with the rest."""
    rows = CampaignRun.objects.filter(
        state=State.RUNNING, is_for_workers=False, started_at__lt=Now() - _JUST_BEGUN
    )
    dead = [row for row in rows.order_by("started_at", "id") if not is_alive(row)]
    return sum(_end(row.pk, State.FAILED, code="abandoned", attempt=row.attempt) for row in dead)
