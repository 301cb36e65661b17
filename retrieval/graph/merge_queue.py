"""What waits for a decision about which entities are one: the pairs, filtered, with what speaks for each.

A pair stays the pair it was found as. When one of its sides became part of another entity meanwhile, it is
that entity's pair now and still waits: nothing becomes one by way of a third.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce

from retrieval.graph import joining, merge_evidence
from retrieval.graph.joining import Weight
from retrieval.graph.merge_evidence import Said
from retrieval.graph.models import Entity
from retrieval.graph.naming import LONGEST_NAME, key_of
from retrieval.graph.resolution_models import MergeProposal, ResolutionAudit

TIERS = ("1", "2", "3")


@dataclass(frozen=True, slots=True)
class Filters:
    """What the list is narrowed to. Empty means not narrowed; what nobody offers is not narrowed by."""

    tier: str = ""
    type: str = ""
    q: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Filters:
        """Return the filters of a query string."""
        values = {one.name: str(given.get(one.name, "")).replace("\0", "").strip() for one in fields(cls)}
        tier = values["tier"] if values["tier"] in TIERS else ""
        return cls(tier, values["type"][:60], values["q"][:LONGEST_NAME])

    def query(self) -> str:
        """Return the filters as a query string."""
        return urlencode({one.name: value for one in fields(self) if (value := getattr(self, one.name))})

    def of_tier(self, tier: str) -> Filters:
        """Return the same filters with another tier."""
        return replace(self, tier=tier)


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a pair: the entity it is part of now, and what passages say of that.

    `found` is the entity the pair was found with, where that is a tombstone now.
    """

    entity: Entity
    found: Entity | None
    said: Said

    @property
    def weight(self) -> Weight:
        """What decides whether it stays."""
        return Weight(self.said.mentions, self.entity.name)


@dataclass(frozen=True, slots=True)
class Row:
    """A pair of the queue. `kept` stays when it is approved as it is; `other` becomes its tombstone.

    `different` are two of its members that somebody said are different: then it cannot become one.
    `parted_by` and `parted_at` say who took it apart before, if anybody did.
    """

    proposal: MergeProposal
    kept: Side
    other: Side
    different: tuple[Entity, Entity] | None = None
    parted_by: str = ""
    parted_at: datetime | None = None


def waiting() -> QuerySet[MergeProposal]:
    """Return the open pairs of entities that there are and that are not one by now."""
    return (
        MergeProposal.objects.filter(state=MergeProposal.State.PROPOSED)
        .annotate(
            one=Coalesce("low__canonical_entity", "low__id"),
            other=Coalesce("high__canonical_entity", "high__id"),
        )
        .exclude(one=F("other"))
        .order_by("tier", "-confidence", "id")
    )


def narrowed(pairs: QuerySet[MergeProposal], filters: Filters) -> QuerySet[MergeProposal]:
    """Keep the pairs that `filters` leave."""
    if filters.tier:
        pairs = pairs.filter(tier=int(filters.tier))
    if filters.type:
        pairs = pairs.filter(Q(low__type=filters.type) | Q(high__type=filters.type))
    key = key_of(filters.q)
    if filters.q:
        pairs = pairs.filter(Q(low__key__contains=key) | Q(high__key__contains=key))
    return pairs


def counts(pairs: QuerySet[MergeProposal]) -> tuple[Counter[str], Counter[str]]:
    """Return how many of `pairs` each tier has, and in how many of them each type has a side."""
    tiers: Counter[str] = Counter()
    types: Counter[str] = Counter()
    for tier, low, high in pairs.order_by().values_list("tier", "low__type", "high__type"):
        tiers[str(tier)] += 1
        types.update({low, high})
    return tiers, types


def rows(pairs: Iterable[MergeProposal]) -> list[Row]:
    """Return the pairs with both sides and what speaks for them, in so many statements for any number."""
    listed = list(pairs)
    sides = {end for pair in listed for end in (pair.low_id, pair.high_id)}
    members = merge_evidence.members(sides)
    said = merge_evidence.said(sides, members)
    apart = _different(members)
    parted = _parted(listed)
    found = []
    for pair in listed:
        low, high = (_side(end, members, said[end]) for end in (pair.low_id, pair.high_id))
        weights = {side.entity.pk: side.weight for side in (low, high)}
        stays = joining.stays(low.entity.pk, high.entity.pk, weights)
        kept, other = (low, high) if stays == low.entity.pk else (high, low)
        record = parted.get((str(pair.low_id), str(pair.high_id)))
        row = Row(pair, kept, other, apart.get(frozenset((low.entity.pk, high.entity.pk))))
        if record is not None:
            row = replace(row, parted_by=record.done_by_name, parted_at=record.happened_at)
        found.append(row)
    return found


def _side(end: UUID, members: Mapping[UUID, Entity], said: Said) -> Side:
    found = members[end]
    canonical = found.canonical_entity_id
    return Side(found, None, said) if canonical is None else Side(members[canonical], found, said)


def _different(members: Mapping[UUID, Entity]) -> dict[frozenset[UUID], tuple[Entity, Entity]]:
    """Return the pairs somebody said are different, by what they are part of now."""
    never = MergeProposal.objects.filter(
        state=MergeProposal.State.NEVER, low__in=list(members), high__in=list(members)
    )
    found = {}
    for low, high in never.order_by("id").values_list("low_id", "high_id"):
        ends = members[low], members[high]
        found[frozenset(end.canonical_entity_id or end.pk for end in ends)] = ends
    return found


def _parted(pairs: Sequence[MergeProposal]) -> dict[tuple[str, ...], ResolutionAudit]:
    """Return the undo of each pair that was one before, the last of them."""
    named = [[str(pair.low_id), str(pair.high_id)] for pair in pairs]
    undone = ResolutionAudit.objects.filter(undoes__inverse__pair__in=named).select_related("undoes")
    return {tuple(one.undoes.inverse["pair"]): one for one in undone.order_by("id") if one.undoes}
