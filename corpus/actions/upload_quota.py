"""How much one person may send within a day. Counted by what requests announce, before they are read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import structlog
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from corpus.upload_charges import UploadCharge

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

logger = structlog.get_logger(__name__)

_WINDOW = timedelta(hours=24)
_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class OverQuota:
    """Why a request may not be sent now. `free_at` is when it may, None when it is too large for any day."""

    used: int
    quota: int
    size: int
    free_at: datetime | None

    def __str__(self) -> str:
        numbers = {
            "used": f"{self.used / _MEGABYTE:,.0f}",
            "quota": f"{self.quota / _MEGABYTE:,.0f}",
            "size": f"{self.size / _MEGABYTE:,.1f}",
        }
        if self.free_at is None:
            words = _("The request has %(size)s MB; %(quota)s MB is what you may send within 24 hours.")
            return words % numbers
        when = timezone.localtime(self.free_at)
        numbers["when"] = f"{date_format(when, 'j F, H:i')} {when:%Z}"
        words = _(
            "You have sent %(used)s of %(quota)s MB within 24 hours. This request of %(size)s MB fits from"
            " %(when)s on."
        )
        return words % numbers


def over_quota(*, by: User | AnonymousUser, size: int) -> OverQuota | None:
    """Say why `by` may not send `size` bytes now, None when they may. Writes nothing."""
    if not isinstance(by, User):
        return None
    return _over(_charges(by), size)


@transaction.atomic
def charge(*, by: User, size: int) -> OverQuota | None:
    """Count `size` bytes as sent by `by`, or say why they may not be sent now and count nothing.

    Two requests of one person are counted one after the other, so that they cannot both take what is left.
    """
    User.objects.select_for_update(no_key=True).get(pk=by.pk)
    UploadCharge.objects.filter(user=by, charged_at__lt=timezone.now() - _WINDOW).delete()
    refusal = _over(_charges(by), size)
    if refusal is None:
        UploadCharge.objects.create(user=by, size=size)
    else:
        logger.info("upload.over_quota", user=by.pk, size=size, used=refusal.used)
    return refusal


def _charges(by: User) -> list[tuple[datetime, int]]:
    """Return what still counts, the oldest first."""
    found = UploadCharge.objects.filter(user=by, charged_at__gte=timezone.now() - _WINDOW)
    return list(found.order_by("charged_at", "id").values_list("charged_at", "size"))


def _over(charges: list[tuple[datetime, int]], size: int) -> OverQuota | None:
    quota = settings.SCI_RAG_UPLOAD_MB_PER_DAY * _MEGABYTE
    used = sum(charged for _at, charged in charges)
    if used + size <= quota:
        return None
    left = used
    for charged_at, charged in charges:
        left -= charged
        if left + size <= quota:
            return OverQuota(used, quota, size, charged_at + _WINDOW)
    return OverQuota(used, quota, size, None)
