"""Retrieval's background work as Celery sees it."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from retrieval.graph.extraction import background


@shared_task(name=background.TASK)
def extract_graph(run: str) -> None:
    """Carry a run of extraction on for a turn."""
    background.work(UUID(run))


@shared_task(name="retrieval.continue_extraction")
def continue_extraction() -> None:
    """Carry on what a worker left or nobody was told of, and end what killed commands left."""
    background.go_on()
