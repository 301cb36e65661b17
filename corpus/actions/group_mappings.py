"""Which group at the provider stands for which role: changed by a person who was shown what follows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pghistory
from django.contrib.auth.models import Group
from django.db import transaction
from django.utils.translation import gettext as _

from corpus.accounts.claims import LONGEST_GROUP, is_group
from corpus.accounts.identities import GroupMapping, Identity, ProviderGrant
from corpus.actions.identities import lock_mappings, synchronise

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

ADD, REMOVE = "corpus.add_groupmapping", "corpus.delete_groupmapping"


class MappingError(ValueError):
    """The mapping cannot be as asked. The message says why."""


@dataclass(frozen=True, slots=True)
class Effect:
    """Who gets a role and who loses it, by name, among those who have signed in before."""

    gain: tuple[str, ...] = ()
    lose: tuple[str, ...] = ()


def effect_of_adding(*, claimed: str, group: Group) -> Effect:
    """Return what adding a mapping does now; raise `MappingError` when it may not be."""
    _require_addable(claimed, group)
    rows = Identity.objects.filter(claimed__contains=[claimed]).exclude(user__groups=group)
    # Whoever it was taken from by hand does not get it back.
    return Effect(gain=_names(rows.exclude(grants__group=group)))


def effect_of_removing(mapping: GroupMapping) -> Effect:
    """Return what removing a mapping does now."""
    return Effect(lose=_names(_holders(mapping).filter(user__groups=mapping.group)))


def members(mapping: GroupMapping) -> int:
    """Return how many accounts the provider last said are in the group."""
    return Identity.objects.filter(claimed__contains=[mapping.claimed]).count()


@transaction.atomic
def add(*, claimed: str, group: Group, by: User) -> GroupMapping:
    """Let a group at the provider stand for a role, for everybody who is in it, from now on."""
    _require(by, ADD)
    lock_mappings()
    _require_addable(claimed, group)
    with pghistory.context(user=by.pk):
        mapping = GroupMapping.objects.create(claimed=claimed, group=group)
    _apply(Identity.objects.filter(claimed__contains=[claimed]).values_list("pk", flat=True))
    return mapping


@transaction.atomic
def remove(*, mapping: GroupMapping, by: User) -> None:
    """Let it stand for the role no more. Whoever had the role by it alone loses it now."""
    _require(by, REMOVE)
    lock_mappings()
    held = list(ProviderGrant.objects.filter(group=mapping.group).values_list("identity_id", flat=True))
    with pghistory.context(user=by.pk):
        GroupMapping.objects.filter(pk=mapping.pk).delete()
    _apply(held)


def _apply(identities: Iterable[int]) -> None:
    keys = list(identities)
    rows = Identity.objects.select_for_update(of=("self",)).select_related("user").filter(pk__in=keys)
    for identity in rows.order_by("pk"):
        synchronise(identity)


def _holders(mapping: GroupMapping) -> QuerySet[Identity]:
    others = GroupMapping.objects.filter(group=mapping.group).exclude(pk=mapping.pk)
    left = list(others.values_list("claimed", flat=True))
    by_grant = Identity.objects.filter(
        grants__group=mapping.group, grants__also_by_hand=False, claimed__contains=[mapping.claimed]
    )
    return by_grant.exclude(claimed__overlap=left) if left else by_grant


def _names(rows: QuerySet[Identity]) -> tuple[str, ...]:
    return tuple(rows.order_by("user__username").values_list("user__username", flat=True))


def _require(by: User, permission: str) -> None:
    if not by.has_perm(permission):
        raise MappingError(_("You may not change which groups stand for which roles."))


def _require_addable(claimed: str, group: Group) -> None:
    if not is_group(claimed):
        raise MappingError(
            _("Enter the group as the provider writes it: at most %(n)d visible characters, to the letter.")
            % {"n": LONGEST_GROUP}
        )
    if GroupMapping.objects.filter(claimed=claimed, group=group).exists():
        raise MappingError(_("That group stands for this role already."))
