"""Extraction by workers: a run is a row, a message only says that one waits."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING
from uuid import UUID

import structlog

from corpus import bells
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
    run = action.claim(run=run_id)
    if run is None:
        return
    try:
        extractor = _extractor(run.parameters["kind"])
        is_done = running.carry_out(
            run,
            extractor=extractor,
            ontology=active_ontology(),
            reach=_left_of(run),
            until=monotonic() + TURN_SECONDS,
        )
    except (NoModel, InvalidOntology) as error:
        logger.warning("graph.run_failed", run=str(run_id), kind=type(error).__name__)
        action.fail(run=run_id, code="not_configured")
        return
    except CapReached:
        logger.info("graph.stopped_at_the_cap", run=str(run_id))
        action.stop_at_the_cap(run=run_id)
        return
    if is_done:
        action.finish(run=run_id)
    else:
        action.let_go(run=run_id)
        ring(run_id)


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
