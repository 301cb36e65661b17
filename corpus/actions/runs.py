"""The record of an ingestion: what was asked for, and what became of each file."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from corpus.models import IngestionItem, IngestionRun

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@transaction.atomic
def start(
    *, origin: str, names: Sequence[str], parameters: dict[str, Any], by: User | None = None
) -> tuple[IngestionRun, list[IngestionItem]]:
    """Record a run and one waiting item for each file, in order."""
    process = {"host": platform.node(), "pid": os.getpid()}
    run = IngestionRun.objects.create(
        started_by=by, origin=origin, parameters={**parameters, "process": process}
    )
    items = IngestionItem.objects.bulk_create(
        [IngestionItem(run=run, path=name) for name in names], batch_size=500
    )
    return run, items


def finish(run: IngestionRun, state: IngestionRun.State) -> None:
    """Record how a run ended."""
    run.state = state
    run.finished_at = timezone.now()
    run.save(update_fields=["state", "finished_at"])


def close_abandoned() -> int:
    """Mark runs of processes of this machine that no longer live as failed; return how many."""
    closed = 0
    for run in IngestionRun.objects.filter(state=IngestionRun.State.RUNNING).order_by("started_at", "id"):
        process = run.parameters.get("process", {})
        if process.get("host") == platform.node() and not _is_alive(process.get("pid", 0)):
            finish(run, IngestionRun.State.FAILED)
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
