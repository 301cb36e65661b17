"""Counting attempts to sign in with a password, in the database: exact across processes and machines."""

from __future__ import annotations

import ipaddress
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from corpus.accounts import guessing
from corpus.accounts.guessing import Count, Rule

_KEPT = timedelta(days=2)


class SignInCount(models.Model):
    """What was tried under one key. Keys are keyed hashes: people type passwords into the field for names."""

    key = models.CharField(max_length=64, primary_key=True)
    tried = models.PositiveIntegerField(default=0)
    since = models.DateTimeField(null=True)
    until = models.DateTimeField(null=True)
    pauses = models.PositiveIntegerField(default=0)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.tried} since {self.since}"


class Paused(Exception):
    """Nobody tries now: a pause holds. `until` says when to try again."""

    def __init__(self, until: datetime) -> None:
        super().__init__(f"paused until {until:%H:%M}")
        self.until = until


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt that was counted before anything was compared. `paused_until`: should it fail."""

    own: str
    shared: tuple[str, ...]
    paused_until: datetime | None


def hashed(kind: str, value: str) -> str:
    """Return what stands for `value` in the table, and tells nothing of it."""
    return salted_hmac(f"corpus.accounts.{kind}", value, algorithm="sha256").hexdigest()


def name_key(name: str) -> str:
    """Return the key of an account's name, there or not."""
    return hashed("name", unicodedata.normalize("NFKC", name[:1000]))


def begin(*, name: str, address: str, device: str) -> Attempt:
    """Count an attempt for `name`, or raise `Paused` and count nothing.

    `device` is what a browser remembers of earlier success with this very name, or empty. Attempts from there
    are counted by themselves, so that nobody can keep a person out by guessing elsewhere.
    """
    named = name_key(name)
    network = network_of(address)
    if device:
        own, shared = hashed("device", f"{named} {device}"), {}
    else:
        own = hashed("pair", f"{named} {network}")
        shared = {named: guessing.NAME, hashed("address", network): guessing.ADDRESS}
    return _count(own, shared)


def succeeded(attempt: Attempt) -> None:
    """Take back what was counted for an attempt that succeeded."""
    with transaction.atomic():
        rows = list(_locked([attempt.own, *attempt.shared]))
        for row in rows:
            if row.key == attempt.own:
                row.delete()
                continue
            # A pause that this very attempt began is no pause.
            began = row.until is not None and row.since is not None and row.since < row.until
            if began and row.until == attempt.paused_until:
                row.until, row.pauses = None, max(row.pauses - 1, 0)
            row.tried = max(row.tried - 1, 0)
            row.save(update_fields=["tried", "until", "pauses"])


def forget_old() -> int:
    """Remove counts that hold nobody back any more."""
    then = timezone.now() - _KEPT
    old = Q(until__isnull=True) | Q(until__lt=then)
    return SignInCount.objects.filter(old, Q(since__isnull=True) | Q(since__lt=then)).delete()[0]


def _count(own: str, shared: dict[str, Rule]) -> Attempt:
    rules = {own: guessing.PAIR, **shared}
    SignInCount.objects.bulk_create([SignInCount(key=key) for key in sorted(rules)], ignore_conflicts=True)
    with transaction.atomic():
        rows = {row.key: row for row in _locked(rules)}
        now = timezone.now()
        counts = {key: guessing.attempt(_held(row), rules[key], now) for key, row in rows.items()}
        held = [rows[key].until for key, count in counts.items() if count is None]
        if held:
            raise Paused(max(until for until in held if until is not None))
        pause: datetime | None = None
        for key, count in counts.items():
            assert count is not None  # noqa: S101 - those that are were refused above
            row = rows[key]
            row.tried, row.since, row.until, row.pauses = count.tried, count.since, count.until, count.pauses
            row.save()
            if count.until is not None and count.until > now:
                pause = max(pause or count.until, count.until)
    return Attempt(own, tuple(shared), pause)


def _held(row: SignInCount) -> Count:
    return Count(row.tried, row.since, row.until, row.pauses)


def _locked(keys: Iterable[str]) -> models.QuerySet[SignInCount]:
    # In one order for everybody, so that two attempts wait for each other and never both ways.
    return SignInCount.objects.select_for_update().filter(key__in=list(keys)).order_by("key")


def network_of(address: str) -> str:
    """Return whose address it is: of IPv6, everybody has a whole network of their own."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return ""
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((int(found) >> 64 << 64, 64)))
    return str(found)
