"""Who starts and decides things in a campaign: an account, or whoever works at the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from django.contrib.auth.models import User

if TYPE_CHECKING:
    from corpus.actions.rights import Operator

    Doer: TypeAlias = User | Operator


def account(by: Doer) -> User | None:
    """Return the account behind a doer; None for the command line."""
    return by if isinstance(by, User) else None


def named(by: Doer, prefix: str) -> dict[str, Any]:
    """Return the two columns that say who did something."""
    return {prefix: account(by), f"{prefix}_name": by.get_username()[:200]}
