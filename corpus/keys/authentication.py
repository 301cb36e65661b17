"""From a secret to who is asking. Every surface that takes keys comes through here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.utils import timezone

from corpus import ceilings
from corpus.keys import secret as secrets
from corpus.keys.models import ApiKey
from corpus.keys.permissions import Permission, parse_permission
from corpus.rights import parse_class
from corpus.scope import Ceiling

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class KeyRefused(Exception):
    """A request brought no key that counts. Only the log may tell which of these it was."""

    code = "invalid_key"


class MissingKey(KeyRefused):
    """There was no key."""

    code = "missing_key"


class InvalidKey(KeyRefused):
    """No key has this secret."""


class ExpiredKey(KeyRefused):
    """The key's time is over."""


class RevokedKey(KeyRefused):
    """Somebody revoked the key."""


class OwnerInactive(KeyRefused):
    """The account the key belongs to is closed."""


class PermissionMissing(Exception):
    """The key does not allow this."""

    def __init__(self, permission: Permission) -> None:
        super().__init__(f"The key lacks the permission {permission}.")
        self.permission = permission


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks by a key. `user` sees at most what owner and key may both see: hand on this instance."""

    key: UUID
    user: User
    permissions: frozenset[Permission]
    requests_per_minute: int

    def require(self, permission: Permission) -> None:
        """Raise `PermissionMissing` unless the key allows this."""
        if permission not in self.permissions:
            raise PermissionMissing(permission)


def authenticate(secret: str) -> Caller:
    """Return who asks by `secret`, with the rights of this moment; raise a `KeyRefused`.

    Only whoever holds the whole secret learns more than that it is not valid.
    """
    if not secret:
        raise MissingKey
    prefix = secrets.prefix_of(secret)
    if prefix is None:
        raise InvalidKey
    alike = ApiKey.objects.select_related("owner").filter(prefix=prefix).order_by("id")
    key = secrets.the_one(secret, [(row.hash, row) for row in alike])
    if key is None:
        raise InvalidKey
    if key.revoked_at is not None:
        raise RevokedKey
    if key.expires_at is not None and key.expires_at <= timezone.now():
        raise ExpiredKey
    if not key.owner.is_active:
        raise OwnerInactive
    _hash_anew(key, secret)
    return Caller(
        key=key.pk,
        user=ceilings.narrowed(key.owner, ceiling_of(key)),
        permissions=frozenset(parse_permission(name) for name in key.permissions),
        requests_per_minute=key.requests_per_minute,
    )


def _hash_anew(key: ApiKey, secret: str) -> None:
    """Keep the secret under the site's key of today, if it is kept under one of before or under none."""
    fresh = secrets.hash_of(secret)
    if key.hash != fresh:
        ApiKey.objects.filter(pk=key.pk, hash=key.hash).update(hash=fresh, hashed_by=secrets.site_key_name())


def ceiling_of(key: ApiKey) -> Ceiling:
    """Return the key's own ceiling; its owner's still holds beside it."""
    classes = tuple(parse_class(name) for name in key.license_classes)
    return Ceiling(classes, None if key.all_buckets else tuple(key.buckets))
