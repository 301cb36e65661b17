"""Making and revoking keys. The database records both, with who did it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

import pghistory
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from corpus.keys import secret as secrets
from corpus.keys.models import LONGEST_NAME, MOST_REQUESTS_PER_MINUTE, ApiKey
from corpus.keys.permissions import ALL_PERMISSIONS, Permission
from corpus.normalise import visible
from corpus.scope import NOTHING, Ceiling

if TYPE_CHECKING:
    from django.contrib.auth.models import User

CREATE, REVOKE = "corpus.add_apikey", "corpus.change_apikey"
_LONGEST_BUCKET = 100


class KeyActionRefused(ValueError):
    """The key cannot be made or revoked as asked. The message says why."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a key is to allow. As it stands: nothing."""

    name: str
    permissions: Sequence[Permission] = ()
    ceiling: Ceiling = NOTHING
    requests_per_minute: int = 60
    expires_at: datetime | None = None


def end_of(day: date | None) -> datetime | None:
    """Return when a key expires whose last day this is; None for one that does not."""
    return None if day is None else timezone.make_aware(datetime.combine(day + timedelta(days=1), time.min))


@dataclass(frozen=True, slots=True)
class Made:
    """A new key and its secret, which nothing can show again."""

    key: ApiKey
    secret: secrets.Secret


@transaction.atomic
def create(*, owner: User, wanted: Wanted, by: User | None) -> Made:
    """Make a key for `owner`; `by` is nobody for the operator at the command line.

    Raises `KeyActionRefused` when the key makes no sense or `by` may not make it.
    """
    name = check(owner=owner, wanted=wanted, by=by)
    made = secrets.new_secret()
    words = made.reveal()
    with _recorded(by):
        key = ApiKey.objects.create(
            owner=owner,
            name=name,
            prefix=secrets.prefix_of(words) or "",
            hash=secrets.hash_of(words),
            hashed_by=secrets.site_key_name(),
            permissions=[str(item) for item in ALL_PERMISSIONS if item in wanted.permissions],
            license_classes=[str(item) for item in wanted.ceiling.license_classes],
            all_buckets=wanted.ceiling.buckets is None,
            buckets=sorted(set(wanted.ceiling.buckets or ())),
            requests_per_minute=wanted.requests_per_minute,
            expires_at=wanted.expires_at,
            created_by=by,
        )
    return Made(key, made)


def check(*, owner: User, wanted: Wanted, by: User | None) -> str:
    """Return the name of the key that `create` would make, or raise what it would raise. Writes nothing."""
    _check_may_create(owner, by)
    _check_limits(wanted)
    return _checked_name(wanted.name)


@transaction.atomic
def revoke(*, key: ApiKey, by: User | None) -> bool:
    """End a key for good, from the next request on. Return False for one that had ended so already.

    Raises `KeyActionRefused` when `by` neither owns it nor may revoke keys.
    """
    if by is not None and key.owner_id != by.pk and not by.has_perm(REVOKE):
        raise KeyActionRefused(_("You may not revoke keys of others."))
    with _recorded(by):
        ended = ApiKey.objects.filter(pk=key.pk, revoked_at__isnull=True).update(
            revoked_at=timezone.now(), revoked_by=by
        )
    return bool(ended)


def _check_may_create(owner: User, by: User | None) -> None:
    if by is not None and not by.has_perm(CREATE):
        raise KeyActionRefused(_("You may not make keys."))
    # A key acts as its owner: made for a superuser it would be the way up, as their password would.
    if by is not None and owner.is_superuser and not by.is_superuser:
        raise KeyActionRefused(_("Only superusers make keys for superusers."))
    if not owner.is_active:
        raise KeyActionRefused(_("The account %s is closed.") % owner.get_username())


def _checked_name(text: str) -> str:
    name = " ".join(visible(text).split())
    if not name or len(name) > LONGEST_NAME:
        raise KeyActionRefused(_("Say in 1 to %(n)s characters what the key is for.") % {"n": LONGEST_NAME})
    return name


def _check_limits(wanted: Wanted) -> None:
    if not 1 <= wanted.requests_per_minute <= MOST_REQUESTS_PER_MINUTE:
        raise KeyActionRefused(
            _("A key may be used 1 to %(n)s times a minute.") % {"n": MOST_REQUESTS_PER_MINUTE}
        )
    if wanted.expires_at is not None and wanted.expires_at <= timezone.now():
        raise KeyActionRefused(_("The key would have expired already."))
    for bucket in wanted.ceiling.buckets or ():
        if not bucket or len(bucket) > _LONGEST_BUCKET or bucket != visible(bucket):
            raise KeyActionRefused(_("%(name)s is not the name of a bucket.") % {"name": ascii(bucket)})


def _recorded(by: User | None) -> pghistory.context:
    return pghistory.context(process="operator") if by is None else pghistory.context(user=by.pk)
