"""Writing certificates: asked for, at it, ended with what was found."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from corpus.certificates import Certificate

if TYPE_CHECKING:
    from django.contrib.auth.models import User

State = Certificate.State
# A check that gave no sign of life for so long has died with its process.
ABANDONED_AFTER = timedelta(minutes=30)


def ask(*, role: Group, by: User | None) -> Certificate:
    """Record that somebody wants to know what members of `role` get to see; None is the operator."""
    ceiling = getattr(role, "ceiling", None)
    buckets = [] if ceiling is None else None if ceiling.all_buckets else list(ceiling.buckets)
    return Certificate.objects.create(
        role=role.name,
        license_classes=[] if ceiling is None else list(ceiling.license_classes),
        buckets=buckets,
        asked_by=by,
        asked_by_name="" if by is None else by.get_username(),
    )


def waiting() -> list[int]:
    """Return the checks that wait, and those whose process died, the oldest first."""
    died = Q(state=State.RUNNING, started_at__lt=timezone.now() - ABANDONED_AFTER)
    found = Certificate.objects.filter(Q(state=State.WAITING) | died)
    return list(found.order_by("asked_at", "id").values_list("pk", flat=True))


@transaction.atomic
def begin(*, key: int) -> Certificate | None:
    """Take a waiting check, or one that died; None when another process has it."""
    row = Certificate.objects.select_for_update(skip_locked=True).filter(pk=key).first()
    now = timezone.now()
    if row is None or not (row.state == State.WAITING or _died(row)):
        return None
    row.state, row.started_at, row.done = State.RUNNING, now, 0
    row.save(update_fields=["state", "started_at", "done"])
    return row


def _died(row: Certificate) -> bool:
    is_old = row.started_at is not None and timezone.now() - row.started_at > ABANDONED_AFTER
    return row.state == State.RUNNING and is_old


def progress(*, certificate: Certificate, done: int) -> None:
    """Say how many surfaces were asked so far."""
    Certificate.objects.filter(pk=certificate.pk).update(done=done)


def finish(*, certificate: Certificate, passed: bool, found: dict[str, Any]) -> None:
    """Record what was found."""
    state = State.PASSED if passed else State.FAILED
    _end(certificate, state=state, **found)


def give_up(*, certificate: Certificate, reason: str) -> None:
    """Record that the check could not be carried out: that is not a pass."""
    _end(certificate, state=State.ENDED, reason=reason[:200])


def _end(certificate: Certificate, **fields: Any) -> None:
    Certificate.objects.filter(pk=certificate.pk).update(finished_at=timezone.now(), **fields)
    certificate.refresh_from_db()
