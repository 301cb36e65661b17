"""The corpus's background work as Celery sees it: bells that wake a worker, and the sweep."""

from __future__ import annotations

from time import monotonic
from uuid import UUID

import structlog
from celery import shared_task

from corpus import bells, fixity, jobs, pipeline
from corpus.actions import embargoes
from corpus.campaigns import background as campaigns
from corpus.enrichment import running
from corpus.gateways.http import ContactMissing
from corpus.jobs import Kind
from corpus.models import Job
from corpus.webhooks import delivering, ledger

logger = structlog.get_logger(__name__)

# How long a woken worker goes on with what waits before other messages have their turn.
TURN_SECONDS = 10.0
UNATTENDED_SECONDS = 10.0
# With a worker at it, the queue is only long; after this time others are told as well.
CALL_OTHERS_SECONDS = 120.0


@shared_task(name=bells.WORK)
def work(job: str) -> None:
    """Do a job if it still waits, then what waits beside it, for a turn; pass the bell on."""
    kind = Job.objects.filter(pk=job).values_list("kind", flat=True).first()
    if kind is not None:
        serve(Kind(kind), UUID(job))


def serve(kind: Kind, first: UUID) -> None:
    """Do the job `first` and what else waits in its queue, for a turn."""
    deadline = monotonic() + TURN_SECONDS
    beside = [other for other, queue in bells.QUEUES.items() if queue == bells.QUEUES[kind]]
    pipeline.work(kind=kind, job=first)
    while any(pipeline.work(kind=each) for each in beside):
        if monotonic() > deadline:
            left = beside
            break
    else:
        # Not every job of the next stage rang for itself.
        left = [each for each in Kind if each not in beside]
    for each in left:
        bells.ring(each, jobs.unattended(kind=each, seconds=0, limit=1))


@shared_task(name="corpus.sweep_jobs")
def sweep_jobs() -> None:
    """Take back what dead workers held, and ring again for what nobody came for."""
    reclaimed = pipeline.reclaim()
    for kind in Kind:
        attended = Job.objects.filter(kind=kind, state=Job.State.RUNNING).exists()
        patience, bells_to_ring = (
            (CALL_OTHERS_SECONDS, 1) if attended else (UNATTENDED_SECONDS, bells.AT_ONCE)
        )
        bells.ring(kind, jobs.unattended(kind=kind, seconds=patience, limit=bells_to_ring))
    if reclaimed:
        logger.warning("jobs.reclaimed", count=reclaimed)


# A part of the corpus every time: short enough for what else waits in the queue.
FIXITY_SECONDS = 20.0


@shared_task(name="corpus.verify_originals")
def verify_originals() -> None:
    """Compare the documents that were not looked at for longest with their hashes."""
    count = fixity.verify_due(seconds=FIXITY_SECONDS)
    logger.info("fixity.verified", count=count)


# Some works every time: short enough for what else waits in the queue.
ENRICHMENT_SECONDS = 20.0


@shared_task(name=bells.CHECK_SOURCES)
def check_sources() -> None:
    """Ask Crossref about the works that are due; without a contact address nobody is asked."""
    try:
        running.run(seconds=ENRICHMENT_SECONDS, patient=True)
    except ContactMissing:
        logger.info("enrichment.not_configured")


@shared_task(name="corpus.ask_about_embargoes")
def ask_about_embargoes() -> None:
    """Ask a person about the documents whose embargo has ended; none of them opens by itself."""
    count = embargoes.raise_due()
    if count:
        logger.info("embargoes.ended", count=count)


# For a turn: what else waits in the queue is not held up by receivers that take their time.
DELIVERY_SECONDS = 20.0
LEDGER_DAYS = 30


@shared_task(name=bells.DELIVER)
def deliver_webhooks() -> None:
    """Send the messages that are due; pass the bell on when that took its turn and more may wait."""
    started = monotonic()
    count = delivering.deliver_due(seconds=DELIVERY_SECONDS)
    if count:
        logger.info("webhooks.delivered", attempts=count)
    if monotonic() - started >= DELIVERY_SECONDS:
        bells.call_for_deliveries()


@shared_task(name="corpus.forget_deliveries")
def forget_deliveries() -> None:
    """Remove old entries of the ledger of messages."""
    logger.info("webhooks.forgot", count=ledger.forget(days=LEDGER_DAYS))


@shared_task(name=campaigns.TASK)
def carry_on_campaign(run: str) -> None:
    """Carry a run over a campaign on for a turn."""
    campaigns.work(UUID(run))


@shared_task(name="corpus.continue_campaigns")
def continue_campaigns() -> None:
    """Carry on what a worker left or nobody was told of."""
    campaigns.go_on()
