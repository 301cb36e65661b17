"""What webhooks are told of a run of extraction that ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from retrieval.graph import run_pages

if TYPE_CHECKING:
    from django.contrib.auth.models import User

KIND = "extraction"


def told(run_id: UUID, user: User) -> dict[str, Any] | None:
    """Return what `user` may be told of a run in numbers; None for who may not look, or none there is."""
    run = run_pages.find(run_id)
    if run is None or not run_pages.may_look(user):
        return None
    return {
        "run": str(run.pk),
        "state": run.state,
        "passages": run.passages_done,
        "entities": run.entities_added,
        "relationships": run.relationships_added,
        "batches_failed": run.batches_failed,
    }
