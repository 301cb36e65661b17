"""Who is signed in where: the table, and what its owner and an administrator may do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession, BaseSessionManager
from django.db import models
from django.utils import timezone

from corpus.session_store import SessionStore

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class PersonSession(AbstractBaseSession):
    """One session. What it holds is Django's; what is beside it is shown to its owner."""

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="sessions"
    )
    # What it is called on pages: the key itself is as good as a password.
    number = models.UUIDField(null=True, unique=True)
    begun_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)
    agent = models.CharField(max_length=300, blank=True, default="")
    address = models.GenericIPAddressField(null=True)
    provider_session = models.UUIDField(null=True, help_text="What its provider is asked with")

    objects = BaseSessionManager()  # type: ignore[misc]

    class Meta:
        default_permissions = ()

    @classmethod
    def get_session_store_class(cls) -> type[SessionStore]:
        """Return what reads and writes the rows."""
        return SessionStore


def of(person: User) -> models.QuerySet[PersonSession]:
    """Return the sessions in which `person` is signed in now, the latest used first."""
    rows = PersonSession.objects.filter(person=person, expire_date__gt=timezone.now())
    return rows.order_by("-seen_at", "session_key")


def end(*, person: User, numbers: list[UUID]) -> int:
    """End these sessions of `person`; those of others are none."""
    return of(person).filter(number__in=numbers).delete()[0]


def end_all(*, person: User, but: str | None = None) -> int:
    """End every session of `person`, except the one with the key `but`."""
    return PersonSession.objects.filter(person=person).exclude(session_key=but or "").delete()[0]
