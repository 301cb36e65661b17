"""Campaigns by workers: a run is a row, a message only says that one waits."""

from __future__ import annotations

from time import monotonic
from uuid import UUID

import structlog
from django.db import transaction

from corpus import bells
from corpus.campaigns import carrying, downloads
from corpus.campaigns.actions import runs
from corpus.campaigns.models import CampaignRun

logger = structlog.get_logger(__name__)

TASK = "corpus.carry_on_campaign"
# Then other messages have their turn, and the run goes on with the next.
TURN_SECONDS = 60.0


def call(run: CampaignRun) -> None:
    """Wake a worker for a run once what queued it is committed."""
    transaction.on_commit(lambda: ring(run.pk))


def ring(run: UUID) -> bool:
    """Wake a worker for a run; False when the broker is down, and the clock follows."""
    return bells.ring_for_run(TASK, run, kind="campaign")


def work(run: UUID) -> None:
    """Carry a run on for a turn, if nobody else does; leave the rest to the next."""
    held = runs.claim(run=run)
    if held is None:
        return
    with runs.holding(held):
        is_done = carrying.carry_out(held, until=monotonic() + TURN_SECONDS)
    if not is_done:
        ring(run)


def go_on() -> None:
    """Carry on what a worker left or nobody was told of, and clear away what killed processes left."""
    for run in runs.waiting():
        work(run)
    runs.close_abandoned()
    if removed := downloads.sweep_abandoned():
        logger.info("campaign.parts_removed", count=removed)
