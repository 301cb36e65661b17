"""Who sees more and who sees fewer when documents change class: said before it happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Q

from corpus.models import GroupCeiling
from corpus.rights import LicenseClass, parse_class
from corpus.scope import Ceiling


@dataclass(frozen=True, slots=True)
class Seen:
    """What a change of classes does to what the members of a group may see."""

    group: str
    members: int
    more: int
    fewer: int


def seen_by(moves: Iterable[tuple[LicenseClass, LicenseClass, str]]) -> list[Seen]:
    """Return the groups for whom documents appear or vanish when each goes from one class to another.

    A move names the class before, the class after and the bucket of one document.
    """
    counts = Counter(moves)
    active = Count("group__user", filter=Q(group__user__is_active=True))
    ceilings = GroupCeiling.objects.select_related("group").annotate(members=active).order_by("group__name")
    found = (_seen(row, row.members, counts) for row in ceilings)
    return [one for one in found if one.more or one.fewer]


def _seen(row: GroupCeiling, members: int, counts: Counter[tuple[LicenseClass, LicenseClass, str]]) -> Seen:
    classes = tuple(parse_class(name) for name in row.license_classes)
    ceiling = Ceiling(classes, None if row.all_buckets else tuple(row.buckets))
    more = fewer = 0
    for (before, after, bucket), count in counts.items():
        saw, sees = ceiling.covers(before, bucket), ceiling.covers(after, bucket)
        more += count * (sees and not saw)
        fewer += count * (saw and not sees)
    return Seen(row.group.name, members, more, fewer)
