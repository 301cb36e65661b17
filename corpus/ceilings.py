"""Who may see what at most. The one place where a request's scope meets the asker's ceiling."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, TypeVar

from django.db.models import Q

from corpus.models import Document, GroupCeiling
from corpus.rights import parse_class
from corpus.scope import EVERYTHING, NOTHING, Ceiling, RetrievalScope

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

Account = TypeVar("Account", bound="User")
# Set by `narrowed` alone. It stands beside the fields, so reading them again leaves it as it is.
_CARRIED = "_ceiling_carried"


def of(user: User | AnonymousUser) -> Ceiling:
    """Return what `user` may see at most: what their groups allow, met with what the instance carries."""
    carried: Ceiling = getattr(user, _CARRIED, EVERYTHING)
    return _of_account(user).meet(carried)


def narrowed(user: Account, to: Ceiling) -> Account:
    """Return `user` as somebody who sees at most `to`, wherever this instance is handed.

    Narrowing again narrows further. The instance is what carries it: whoever is handed a user hands on the
    same one and never reads the account anew (a test looks through the code for places that do).
    """
    carrier = copy.copy(user)
    carrier.__dict__[_CARRIED] = to.meet(getattr(user, _CARRIED, EVERYTHING))
    return carrier


def is_narrowed(user: User) -> bool:
    """Say whether `user` sees less than the account would: it is a program's, and no person's."""
    return hasattr(user, _CARRIED)


def _of_account(user: User | AnonymousUser) -> Ceiling:
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

    Rows about no document, or none any more, only show to who may see documents of unknown rights in any
    bucket: class and bucket of what they were about is what nobody can look up.
    """
    ceiling = of(user)
    covered = Document.objects.under(ceiling).order_by().values("id")
    condition = Q(**{f"{lookup}__in": covered})
    if ceiling.covers_what_is_gone:
        condition |= Q(**{f"{lookup}__isnull": True})
    return condition
