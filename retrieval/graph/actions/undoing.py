"""Taking back merges and splits, one at a time and the last of those that touch first."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

import structlog
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from retrieval.graph import holding, parting
from retrieval.graph.actions.resolution import OPEN_AGAIN, Act, State, done_by, held
from retrieval.graph.models import Entity, Mention
from retrieval.graph.resolution_models import MergeProposal, ResolutionAudit

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)

_ENDED: Final = "It is not in effect any more: what it joined or split has gone with its documents."


class NotUndone(Exception):
    """Why an act stays. The text says it to a person; `by` is the act that has to be undone first, if any."""

    def __init__(self, reason: str, by: ResolutionAudit | None = None) -> None:
        super().__init__(reason)
        self.by = by


def undo(*, audit: ResolutionAudit, by: User | None, at: datetime | None = None) -> ResolutionAudit:
    """Take back a merge or a split; return the record of that.

    Entities and edges are what they were: of what passages have lost since, nothing comes back, and what
    they have won since stays. The pair is proposed again, for a person to decide on. Raises `NotUndone`
    when a later act builds on it, when it was undone, or when nothing of it is left, and `holding.Busy`.
    """
    return _undo(audit.pk, by, at or timezone.now())


@holding.one_at_a_time
def _undo(pk: int, by: User | None, now: datetime) -> ResolutionAudit:
    audit = ResolutionAudit.objects.get(pk=pk)
    require_last(audit)
    ends = {"inverse": audit.inverse}
    if audit.act == Act.MERGE:
        done = parting.unmerge(**ends, winner=audit.winner_id, loser=audit.loser_id)
        _propose_again(audit)
    else:
        done = parting.unsplit(**ends, first=audit.winner_id, second=audit.loser_id)
        _forget_proposals(audit)
    if not done:
        raise NotUndone(_ENDED)
    record = ResolutionAudit.objects.create(
        act=Act.UNDO,
        winner_id=audit.winner_id,
        loser_id=audit.loser_id,
        undoes=audit,
        tier=audit.tier,
        method=audit.method,
        confidence=audit.confidence,
        happened_at=now,
        **done_by(by),
    )
    logger.info("graph.undone", audit=audit.pk, act=audit.act, by=by.pk if by else None)
    return record


def require_last(audit: ResolutionAudit) -> None:
    """Raise `NotUndone` unless `audit` can be undone as far as the log says."""
    if not in_effect().filter(pk=audit.pk).exists():
        raise NotUndone(_why_not(audit))
    later = _later(audit).order_by("-pk").first()
    if later is not None:
        raise NotUndone(f"A later act builds on it: undo number {later.pk} first.", by=later)


def _why_not(audit: ResolutionAudit) -> str:
    if audit.act == Act.UNDO:
        return "An undo is not taken back: approve the pair again."
    if ResolutionAudit.objects.filter(undoes=audit).exists():
        return "It was undone already."
    return _ENDED


def in_effect() -> QuerySet[ResolutionAudit]:
    """Return the merges and splits that were not undone and did not end with their documents."""
    tombstone = Entity.objects.filter(pk=OuterRef("loser_id"), canonical_entity__isnull=False)
    named = Mention.objects.filter(entity=OuterRef("loser_id"))
    return ResolutionAudit.objects.filter(
        (Q(act=Act.MERGE) & Exists(tombstone)) | (Q(act=Act.SPLIT) & Exists(named)), undone_by__isnull=True
    )


def _later(audit: ResolutionAudit) -> QuerySet[ResolutionAudit]:
    """Return the later acts in effect that touch the same entities, or whose lost edges do."""
    group = audit.inverse["group"]
    touched = sorted({*group, *audit.inverse["ends"]})
    touching = Q(inverse__group__has_any_keys=touched) | Q(inverse__ends__has_any_keys=group)
    return in_effect().filter(touching, pk__gt=audit.pk)


def _propose_again(audit: ResolutionAudit) -> None:
    low, high = audit.inverse["pair"]
    approved = MergeProposal.objects.filter(low=low, high=high, state=State.APPROVED)
    approved.update(**OPEN_AGAIN)


def _forget_proposals(audit: ResolutionAudit) -> None:
    """Forget what was asked about a sense that is no longer one of its own."""
    about = Q(low=audit.loser_id) | Q(high=audit.loser_id)
    asked = MergeProposal.objects.filter(about, state=State.PROPOSED).order_by()
    MergeProposal.objects.filter(pk__in=held(asked.values_list("pk", flat=True))).delete()
