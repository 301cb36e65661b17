"""Accounts made from the command line."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from django.contrib.auth.models import Group, User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from corpus.roles import STAFF_ROLES


class AccountError(ValueError):
    """The account cannot be made as asked. The message says why."""


def new_password() -> str:
    """Return a password nobody has to invent."""
    return secrets.token_urlsafe(12)


@transaction.atomic
def create(*, name: str, groups: Sequence[str], password: str) -> User:
    """Make the account `name` with the rights of `groups`; raise `AccountError` when that may not be."""
    found = {group.name: group for group in Group.objects.order_by("name")}
    if missing := [group for group in groups if group not in found]:
        raise AccountError(f"There is no group {missing[0]!r}. Use one of: {', '.join(found)}.")
    user = User(username=name, is_staff=any(group in STAFF_ROLES for group in groups))
    try:
        # First of all: not every argument of a command is a text a database takes.
        User.username_validator(name)
        validate_password(password, user)
    except ValidationError as error:
        raise AccountError(" ".join(error.messages)) from None
    if User.objects.filter(username=name).exists():
        raise AccountError(f"There is an account '{name}' already.")
    user.set_password(password)
    user.save()
    user.groups.set(found[group] for group in groups)
    return user
