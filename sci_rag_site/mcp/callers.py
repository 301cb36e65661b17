"""Who calls a tool, found out anew for each call: what was revoked a moment ago counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from django.contrib.auth.models import User

from corpus.keys import throttling
from corpus.keys.authentication import Caller, KeyRefused, PermissionMissing, authenticate
from corpus.keys.permissions import ALL_PERMISSIONS, Permission
from corpus.keys.secret import Secret


@dataclass(frozen=True, slots=True)
class Asking:
    """On whose behalf a call is made: the account, narrowed by its key, and what the key allows."""

    user: User
    permissions: frozenset[Permission]

    def require(self, permission: Permission) -> None:
        """Raise `PermissionMissing` unless this is allowed."""
        if permission not in self.permissions:
            raise PermissionMissing(permission)


class Identity(Protocol):
    """Knows who calls."""

    def asking(self) -> Asking:
        """Return who asks, with the rights of this moment; raise a `KeyRefused`."""

    def counted(self) -> Asking:
        """Return the same and count the call against its limit; raise `RateLimited`."""


class AccountClosed(KeyRefused):
    """The account a server speaks for is closed or gone."""


class ByKey:
    """Whoever holds a key."""

    def __init__(self, secret: str) -> None:
        self._secret = Secret(secret)

    def asking(self) -> Asking:
        """Return the key's owner, narrowed."""
        caller = self._caller()
        return Asking(caller.user, caller.permissions)

    def counted(self) -> Asking:
        """Count the call against the key's limit, as a request to the API is."""
        caller = self._caller()
        throttling.count(caller)
        return Asking(caller.user, caller.permissions)

    def _caller(self) -> Caller:
        return authenticate(self._secret.reveal())


class ByAccount:
    """An account of this site that whoever runs the command names: the operator needs no key."""

    def __init__(self, name: str) -> None:
        self._name = name

    def asking(self) -> Asking:
        """Return the account with all that it may do itself."""
        user = User.objects.filter(username=self._name, is_active=True).first()
        if user is None:
            raise AccountClosed
        return Asking(user, frozenset(ALL_PERMISSIONS))

    def counted(self) -> Asking:
        """Return the same: the operator's own calls are not counted."""
        return self.asking()
