"""What webhooks are told of an evaluation that ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from evaluation.runs.visibility import known_runs

if TYPE_CHECKING:
    from django.contrib.auth.models import User

KIND = "evaluation"
PERMISSION = "evaluation.view_evaluationrun"


def told(run_id: UUID, user: User) -> dict[str, Any] | None:
    """Return what `user` may be told of a run in numbers; None for who may not know of it."""
    run = known_runs(user).filter(pk=run_id).first() if user.has_perm(PERMISSION) else None
    if run is None:
        return None
    return {
        "run": str(run.pk),
        "measures": run.kind,
        "state": run.state,
        "results": run.done,
        "failed": run.failed,
    }
