"""Taking back what a person decided about pairs, for a while."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import Count, QuerySet
from django.utils import timezone

from retrieval.graph import holding
from retrieval.graph.actions import undoing
from retrieval.graph.actions.resolution import OPEN_AGAIN, State, held
from retrieval.graph.actions.undoing import NotUndone
from retrieval.graph.resolution_models import MergeProposal

if TYPE_CHECKING:
    from django.contrib.auth.models import User

UNDO_WINDOW = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class LastDecision:
    """What somebody decided last and can take back: its moment, and on how many pairs."""

    at: datetime
    pairs: int


def last_decision(by: User) -> LastDecision | None:
    """Return what `by` decided last, within the time in which it can be taken back; None without any."""
    moments = _undoable(by).values("decided_at").annotate(pairs=Count("id")).order_by("-decided_at")
    last = moments.first()
    if last is None or last["decided_at"] is None:
        return None
    return LastDecision(last["decided_at"], last["pairs"])


def take_back(*, by: User, at: datetime) -> tuple[int, Sequence[NotUndone]]:
    """Take back what `by` decided at that moment; return how many pairs wait again, and why others do not.

    Merges are undone one after the other, the last first. Raises `holding.Busy`.
    """
    merges = undoing.in_effect().filter(done_by=by.pk, happened_at=at).order_by("-pk")
    if not _undoable(by).filter(decided_at=at).exists():
        return 0, ()
    done, refused = 0, []
    for audit in merges:
        try:
            undoing.undo(audit=audit, by=by)
            done += 1
        except NotUndone as refusal:
            refused.append(refusal)
    return done + _reopen(by, at), refused


@holding.one_at_a_time
def _reopen(by: User, at: datetime) -> int:
    refusals = _undoable(by).filter(decided_at=at, state__in=[State.REJECTED, State.NEVER])
    return refusals.filter(pk__in=held(refusals.values_list("pk", flat=True))).update(**OPEN_AGAIN)


def _undoable(by: User) -> QuerySet[MergeProposal]:
    since = timezone.now() - UNDO_WINDOW
    return MergeProposal.objects.filter(decided_by=by.pk, decided_at__gte=since).order_by()
