"""Saying who carries a run out."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.utils import timezone

from evaluation.runs.models import EvaluationRun


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
        "after its last sign, and at once on its own machine."
    )
