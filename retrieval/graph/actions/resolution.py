"""Deciding which entities are one: a merge is a pair that was approved, recorded with its inverse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import structlog
from django.utils import timezone

from retrieval.graph import holding, merge_evidence, merging
from retrieval.graph.joining import Joining, Pair, Refusal, Step
from retrieval.graph.models import Entity
from retrieval.graph.resolution_models import MergeProposal, ResolutionAudit

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)

PERMISSION = "retrieval.change_mergeproposal"
State = MergeProposal.State
Act = ResolutionAudit.Act
OPEN_AGAIN: dict[str, Any] = {
    "state": State.PROPOSED,
    "decided_at": None,
    "decided_by": None,
    "decided_by_name": "",
}
# Pairs that one transaction makes one. Storing waits for it.
_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a decision on many pairs did: how many it decided, and why others were left, by reason."""

    decided: int
    refused: Counter[Refusal]


def approve(*, proposals: Sequence[MergeProposal], by: User | None) -> int:
    """Make each pair one, in an order of its own; return how many were. See `decide`."""
    return decide(proposals=proposals, state=State.APPROVED, by=by).decided


def reject(*, proposals: Sequence[MergeProposal], by: User | None) -> int:
    """Close open proposals; return how many. They are not proposed again."""
    return decide(proposals=proposals, state=State.REJECTED, by=by).decided


def never(*, proposals: Sequence[MergeProposal], by: User | None) -> int:
    """Note that each pair is two things, so that nothing makes them one; return how many were open."""
    return decide(proposals=proposals, state=State.NEVER, by=by).decided


def ask_again(*, proposals: Sequence[MergeProposal], by: User | None) -> int:
    """Open refused pairs again; return how many were refused."""
    return _reopen([proposal.pk for proposal in proposals], by)


def decide(
    *,
    proposals: Sequence[MergeProposal],
    state: State,
    by: User | None,
    keep: UUID | None = None,
    at: datetime | None = None,
) -> Outcome:
    """Decide on open proposals, at one moment; return what was done and what was not.

    An approved pair becomes one where it stands: what its sides were merged into meanwhile. The side with
    more mentions stays, then the one with the longer name, then the one with the lesser id; `keep` names
    another. A pair that is one already stays open. Two that somebody said are different never become one,
    not by way of a third either, and what was taken apart only becomes one again by a person.
    Each hundred pairs are one transaction. Raises `holding.Busy`.
    """
    now = at or timezone.now()
    total = Outcome(0, Counter())
    ordered = [proposal.pk for proposal in sorted(proposals, key=_order)]
    for first in range(0, len(ordered), _AT_ONCE):
        ids = ordered[first : first + _AT_ONCE]
        done = _join(ids, by, keep, now) if state == State.APPROVED else _close(ids, state, by, now)
        total = Outcome(total.decided + done.decided, total.refused + done.refused)
    counts = {str(reason): number for reason, number in total.refused.items()}
    logger.info("graph.decided", state=str(state), pairs=total.decided, by=by.pk if by else None, **counts)
    return total


def _order(proposal: MergeProposal) -> tuple[int, float, int]:
    return proposal.tier, -proposal.confidence, proposal.pk


def plan(*, proposals: Sequence[MergeProposal]) -> tuple[list[Step], Counter[Refusal]]:
    """Say which merges approving the pairs would make, and why others are left; change nothing."""
    ordered = sorted(proposals, key=_order)
    ends = {end for row in ordered for end in (row.low_id, row.high_id)}
    joining = _joining(merge_evidence.members(ends))
    found = [joining.join(Pair(row.pk, row.low_id, row.high_id)) for row in ordered]
    steps = [step for step in found if isinstance(step, Step)]
    return steps, Counter(step for step in found if isinstance(step, Refusal))


@holding.one_at_a_time
def _reopen(ids: Sequence[int], by: User | None) -> int:
    refused = MergeProposal.objects.filter(pk__in=held(ids), state__in=[State.REJECTED, State.NEVER])
    count = refused.update(**OPEN_AGAIN)
    logger.info("graph.asked_again", pairs=count, by=by.pk if by else None)
    return count


@holding.one_at_a_time
def _close(ids: Sequence[int], state: State, by: User | None, now: datetime) -> Outcome:
    done = _open(held(ids)).update(state=state, **_decided(by, now))
    return Outcome(done, Counter({Refusal.DECIDED: len(ids) - done}))


@holding.one_at_a_time
def _join(ids: Sequence[int], by: User | None, keep: UUID | None, now: datetime) -> Outcome:
    rows = {row.pk: row for row in _open(ids)}
    ordered = [rows[pk] for pk in ids if pk in rows]
    members = holding.groups({end for row in ordered for end in (row.low_id, row.high_id)})
    joining = _joining(members)
    refused = Counter({Refusal.DECIDED: len(ids) - len(ordered)})
    parted = set() if by is not None else _taken_apart(ordered)
    steps = []
    for row in ordered:
        step = (
            joining.join(Pair(row.pk, row.low_id, row.high_id), keep=keep) if row.pk not in parted else None
        )
        if isinstance(step, Step):
            steps.append((row, step))
        else:
            refused[step or Refusal.TAKEN_APART] += 1
    _merge(steps, members, by, now)
    return Outcome(len(steps), +refused)


def _merge(
    steps: Sequence[tuple[MergeProposal, Step]], members: dict[UUID, Entity], by: User | None, now: datetime
) -> None:
    canonical = {pk: entity.canonical_entity_id for pk, entity in members.items()}
    newest, records = merging.newest_edge(), []
    for row, step in steps:
        theirs = [pk for pk, belongs in canonical.items() if belongs == step.loser]
        inverse = merging.merge(step, theirs, newest=newest)
        canonical.update(dict.fromkeys([step.loser, *theirs], step.winner))
        records.append(
            ResolutionAudit(
                act=Act.MERGE,
                winner_id=step.winner,
                loser_id=step.loser,
                tier=row.tier,
                method=row.method,
                confidence=row.confidence,
                inverse={"pair": [str(row.low_id), str(row.high_id)], **inverse},
                happened_at=now,
                **done_by(by),
            )
        )
    touched = {end for _row, step in steps for end in (step.winner, step.loser)}
    group = {pk for pk, belongs in canonical.items() if pk in touched or belongs in touched}
    merging.point({pk: belongs for pk, belongs in canonical.items() if belongs and pk in group})
    merging.clear_communities(group)
    ResolutionAudit.objects.bulk_create(records)
    _open([row.pk for row, _step in steps]).update(state=State.APPROVED, **_decided(by, now))


def _joining(members: dict[UUID, Entity]) -> Joining:
    return Joining(
        {pk: entity.canonical_entity_id or pk for pk, entity in members.items()},
        merging.weights(members),
        _different(members),
    )


def _different(members: Iterable[UUID]) -> list[tuple[UUID, UUID]]:
    """Return the pairs among `members` that somebody said are different."""
    ids = list(members)
    rows = MergeProposal.objects.filter(state=State.NEVER, low__in=ids, high__in=ids).order_by()
    return list(rows.values_list("low_id", "high_id"))


def _taken_apart(rows: Sequence[MergeProposal]) -> set[int]:
    """Return the proposals whose merge was undone: software does not make it again."""
    numbers = {(str(row.low_id), str(row.high_id)): row.pk for row in rows}
    undone = ResolutionAudit.objects.filter(act=Act.MERGE, undone_by__isnull=False)
    found = undone.filter(inverse__pair__in=[list(pair) for pair in numbers]).order_by()
    return {numbers[tuple(inverse["pair"])] for inverse in found.values_list("inverse", flat=True)}


def held(ids: Iterable[int]) -> list[int]:
    """Lock proposals, at once or not at all: a collection may be about to remove them. Return their ids."""
    return holding.rows(MergeProposal._meta.db_table, ids)


def _open(ids: Iterable[int]) -> Any:
    return MergeProposal.objects.filter(pk__in=list(ids), state=State.PROPOSED)


def _decided(by: User | None, now: datetime) -> dict[str, Any]:
    who = done_by(by)
    return {
        "decided_at": now,
        "decided_by": who["done_by_id"],
        "decided_by_name": who["done_by_name"],
    }


def done_by(by: User | None) -> dict[str, Any]:
    """Return who did it, as the log keeps it: the name outlives the account."""
    return {"done_by_id": by.pk if by else None, "done_by_name": by.get_username()[:150] if by else ""}
