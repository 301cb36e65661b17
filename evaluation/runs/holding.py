"""Carrying a run out alone: the claim on it is kept alive meanwhile and given back at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from corpus import leases
from evaluation.actions import runs as action
from evaluation.runs.models import EvaluationRun


@contextmanager
def holding(run: EvaluationRun) -> Iterator[None]:
    """Keep the claim on `run` as long as the block runs, whatever a model takes for one reply."""
    try:
        with leases.renewed(lambda: action.renew(run=run), run=str(run.pk)):
            yield
    finally:
        action.let_go(run=run)


def who_holds(run: UUID) -> str:
    """Say who carries a run out, for somebody who wanted to."""
    row = EvaluationRun.objects.get(pk=run)
    if row.touched_at is None:
        return f"Run {run} was let go of this very moment: try again."
    host, _, process = row.held_by.rpartition("/")
    seconds = max(0, round((timezone.now() - row.touched_at).total_seconds()))
    return (
        f"Run {run} is being carried out by process {process} on {host}, which gave a sign of life "
        f"{seconds} s ago. When that process is gone, the run is free {settings.SCI_RAG_LEASE_SECONDS} s "
        "after its last sign."
    )
