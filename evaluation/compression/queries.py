"""Decisions of the compression gate as somebody may see them, and as JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet

from evaluation.compression.models import CompressionDecision
from evaluation.runs.models import EvaluationRun
from evaluation.runs.visibility import known_runs

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


def known_decisions(user: User | AnonymousUser) -> QuerySet[CompressionDecision]:
    """Return the decisions both of whose runs `user` may know of."""
    known = known_runs(user).order_by().values("pk")
    found = CompressionDecision.objects.filter(whole__in=known, condensed__in=known)
    return found.select_related("whole", "condensed")


def runs_to_decide_on(user: User | AnonymousUser) -> QuerySet[EvaluationRun]:
    """Return the runs of answers that `user` may know of and that have numbers, the newest first."""
    found = known_runs(user).filter(kind=EvaluationRun.Kind.ANSWERS, state=EvaluationRun.State.FINISHED)
    return found.order_by("-started_at", "pk")


def as_dict(decision: CompressionDecision) -> dict[str, Any]:
    """Return a decision as JSON values."""
    return {
        "decision": str(decision.pk),
        "adopted": decision.is_adopted,
        "reasons": decision.reasons,
        "whole": str(decision.whole_id),
        "condensed": str(decision.condensed_id),
        "decided_at": decision.decided_at.isoformat(),
        "decided_by": decision.decided_by_name,
        "numbers": decision.numbers,
    }
