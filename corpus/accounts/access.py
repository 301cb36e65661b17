"""What an account may see, and why: its roles, by whom each was granted, and the ceiling they come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from corpus import ceilings
from corpus.accounts.identities import GroupMapping, ProviderGrant
from corpus.models import GroupCeiling
from corpus.rights import LABELS, LicenseClass

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class Role:
    """One role of an account. `claimed` are the provider's groups that it comes from; none: by hand."""

    name: str
    classes: tuple[LicenseClass, ...]
    buckets: tuple[str, ...] | None
    claimed: tuple[str, ...]
    also_by_hand: bool

    @property
    def labels(self) -> list[str]:
        """The classes in words."""
        return [LABELS[item] for item in self.classes]


@dataclass(frozen=True, slots=True)
class Access:
    """What an account may see at most, and the roles it follows from."""

    classes: tuple[LicenseClass, ...]
    buckets: tuple[str, ...] | None
    roles: tuple[Role, ...]
    taken_by_hand: tuple[str, ...]
    """Roles that the provider claims and a person took away."""

    @property
    def sees_something(self) -> bool:
        """Whether there is any document the account could see."""
        return bool(self.classes) and self.buckets != ()

    @property
    def labels(self) -> list[str]:
        """The classes in words."""
        return [LABELS[item] for item in self.classes]


def of(user: User) -> Access:
    """Return what `user` may see at most, and why."""
    whole = ceilings.of(user)
    grants = {
        row.group_id: row
        for row in ProviderGrant.objects.filter(identity__user=user).select_related("identity", "group")
    }
    groups = list(user.groups.order_by("name"))
    rows = {row.group_id: row for row in GroupCeiling.objects.filter(group__in=groups)}
    mappings = list(GroupMapping.objects.filter(group__in=groups).order_by("claimed"))
    roles = []
    for group in groups:
        row, grant = rows.get(group.pk), grants.get(group.pk)
        said = set(grant.identity.claimed) if grant is not None else set()
        roles.append(
            Role(
                name=group.name,
                classes=tuple(LicenseClass(item) for item in row.license_classes) if row else (),
                buckets=() if row is None else None if row.all_buckets else tuple(row.buckets),
                claimed=tuple(m.claimed for m in mappings if m.group_id == group.pk and m.claimed in said),
                also_by_hand=grant is None or grant.also_by_hand,
            )
        )
    taken = sorted(row.group.name for key, row in grants.items() if key not in {group.pk for group in groups})
    return Access(tuple(whole.license_classes), whole.buckets, tuple(roles), tuple(taken))
