"""Who may see what at most. The one place where a request's scope meets the asker's ceiling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from corpus.models import Document, GroupCeiling
from corpus.rights import LicenseClass, parse_class
from corpus.scope import EVERYTHING, NOTHING, Ceiling, RetrievalScope

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


def of(user: User | AnonymousUser) -> Ceiling:
    """Return the union of the ceilings of `user`'s groups; nothing for anyone without a group."""
    if not user.is_active or user.is_anonymous:
        return NOTHING
    if user.is_superuser:
        return EVERYTHING
    ceiling = NOTHING
    for row in GroupCeiling.objects.filter(group__user=user).order_by("id"):
        classes = tuple(parse_class(name) for name in row.license_classes)
        buckets = None if row.all_buckets else tuple(row.buckets)
        ceiling = ceiling.union(Ceiling(classes, buckets))
    return ceiling


def effective_scope(user: User | AnonymousUser, requested: RetrievalScope) -> RetrievalScope:
    """Return what `user` may see of what was asked for."""
    return requested.within(of(user))


def about_covered_documents(user: User | AnonymousUser, *, lookup: str) -> Q:
    """Return the condition that the document at `lookup` is covered by `user`'s ceiling.

    Rows about no document, or none any more, only show to who may see documents of unknown rights: that
    is the class of what nobody can look up.
    """
    ceiling = of(user)
    covered = Document.objects.under(ceiling).order_by().values("id")
    condition = Q(**{f"{lookup}__in": covered})
    if LicenseClass.UNKNOWN in ceiling.license_classes:
        condition |= Q(**{f"{lookup}__isnull": True})
    return condition
