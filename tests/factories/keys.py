"""Keys for tests, with their secrets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.contrib.auth.models import User

from corpus.keys import actions
from corpus.keys.actions import Made, Wanted
from corpus.keys.models import MOST_REQUESTS_PER_MINUTE
from corpus.keys.permissions import ALL_PERMISSIONS, Permission
from corpus.scope import EVERYTHING, Ceiling


def make_key(
    owner: User,
    *,
    permissions: Sequence[Permission] = ALL_PERMISSIONS,
    ceiling: Ceiling = EVERYTHING,
    requests_per_minute: int = MOST_REQUESTS_PER_MINUTE,
    expires_at: datetime | None = None,
) -> Made:
    """Make a key that may do all that its owner may, or what is said."""
    wanted = Wanted("A test", permissions, ceiling, requests_per_minute, expires_at)
    return actions.create(owner=owner, wanted=wanted, by=None)


def secret_of(owner: User, *, permissions: Sequence[Permission] = ALL_PERMISSIONS) -> str:
    """Return the secret of a new key."""
    return make_key(owner, permissions=permissions).secret.reveal()


def bearer(secret: str) -> dict[str, str]:
    """Return the header that sends a key."""
    return {"Authorization": f"Bearer {secret}"}
