"""Who may decide which entities are one."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from corpus import ceilings
from corpus.scope import EVERYTHING
from retrieval.graph.actions.resolution import PERMISSION

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

M = TypeVar("M", bound=Model)


def sees_all(user: User | AnonymousUser) -> bool:
    """Say whether `user` may see every document: names, counts and edges come from all of them."""
    return ceilings.of(user) == EVERYTHING


def may_decide(user: User | AnonymousUser) -> bool:
    """Say whether `user` may make entities one, for everybody, and split them."""
    return user.has_perm(PERMISSION) and sees_all(user)


def require(request: HttpRequest) -> None:
    """Raise unless the viewer may decide."""
    if not may_decide(request.user):
        raise PermissionDenied


def visible(rows: QuerySet[M], request: HttpRequest) -> QuerySet[M]:
    """Return `rows` for who may see every document, none of them for anybody else."""
    return rows if sees_all(request.user) else rows.none()
