"""Extraction by workers: a run is a row, a message only says that one waits."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING
from uuid import UUID

import structlog

from corpus import bells, run_claims
from corpus.run_claims import RunLost
from corpus.usage.budget import Cap, CapReached
from retrieval.graph.actions import extraction as action
from retrieval.graph.extraction import choosing, running
from retrieval.graph.extraction.choosing import Kind, NoModel
from retrieval.graph.extraction.running import Reach
from retrieval.graph.extraction.types import Extractor
from retrieval.graph.models import ExtractionRun
from retrieval.graph.ontology import InvalidOntology, active_ontology

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)

TASK = "retrieval.extract_graph"
# Then other messages have their turn, and the run goes on with the next.
TURN_SECONDS = 120.0


def enqueue(*, kind: Kind, limit: int | None, cap: Cap | None = None, by: User | None) -> ExtractionRun:
    """Hand what is unread to the workers, who stop at `cap`. Raises `NoModel` and `InvalidOntology`."""
    ontology = active_ontology()
    extractor = _extractor(kind)
    run = action.start(
        extractor=extractor.name,
        passages=running.count(extractor, Reach(limit=limit)),
        parameters={"kind": kind, "limit": limit},
        is_for_workers=True,
        cap=cap,
        by=by,
    )
    logger.info("graph.run_queued", run=str(run.pk), passages=run.passages, types=len(ontology.entity_types))
    ring(run.pk)
    return run


def ring(run: UUID) -> bool:
    """Wake a worker for a run; False when the broker is down, and the clock follows."""
    return bells.ring_for_run(TASK, run, kind="graph")


def work(run_id: UUID) -> None:
    """Carry a run on for a turn, if nobody else does; leave the rest to the next."""
    run = run_claims.claim(ExtractionRun, run_id, for_workers=True)
    if run is None:
        return
    with run_claims.holding(run):
        is_done = _carried_on(run)
    if not is_done:
        ring(run_id)


def _carried_on(run: ExtractionRun) -> bool:
    """Go on with a claimed run and record its end; False when the turn was over first."""
    try:
        is_done = running.carry_out(
            run,
            extractor=_extractor(run.parameters["kind"]),
            ontology=active_ontology(),
            reach=_left_of(run),
            until=monotonic() + TURN_SECONDS,
        )
    except RunLost:
        logger.warning("graph.run_lost", run=str(run.pk))
        return True
    except (NoModel, InvalidOntology) as error:
        logger.warning("graph.run_failed", run=str(run.pk), kind=type(error).__name__)
        action.fail(run=run.pk, code="not_configured", claim=run.claim)
        return True
    except CapReached:
        logger.info("graph.stopped_at_the_cap", run=str(run.pk))
        action.stop_at_the_cap(run=run.pk, claim=run.claim)
        return True
    if is_done:
        action.finish(run=run.pk, claim=run.claim)
    return is_done


def waiting() -> list[UUID]:
    """Return the runs that workers should carry out, oldest first: whoever is at one keeps it."""
    runs = ExtractionRun.objects.filter(state=ExtractionRun.State.RUNNING, is_for_workers=True)
    return list(runs.order_by("started_at", "pk").values_list("pk", flat=True))


def _left_of(run: ExtractionRun) -> Reach:
    limit = run.parameters["limit"]
    return Reach(limit=None if limit is None else max(0, limit - run.passages_done))


def _extractor(kind: Kind) -> Extractor:
    ontology = active_ontology()
    return choosing.model(ontology) if kind == "model" else choosing.rules(ontology)


def go_on() -> None:
    """Carry on what a worker left or nobody was told of, and end what killed commands left."""
    for run in waiting():
        work(run)
    action.close_abandoned()
