"""Asking for what one does not find, and deciding on it. Deciding opens nothing by itself."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from corpus.access_requests import LONGEST_REASON, LONGEST_WANTED, AccessRequest, key_of
from corpus.normalise import visible

if TYPE_CHECKING:
    from collections.abc import Collection

State = AccessRequest.State

PERMISSION = "corpus.change_accessrequest"
# So many wishes a day are a person's; more are a script's, and would bury those of others.
MOST_A_DAY = 10


class AccessRequestError(ValueError):
    """A request that is not taken, or a decision that may not be made. The message says why."""


class TooMany(AccessRequestError):
    """The person has asked for as much as may be asked for in a day."""

    def __init__(self) -> None:
        super().__init__(
            _("You have asked for %(n)s things within a day. Ask for more tomorrow.") % {"n": MOST_A_DAY}
        )


@transaction.atomic
def request_access(*, wanted: str, reason: str = "", by: User) -> AccessRequest:
    """Record that `by` wants to see `wanted`; return the open request there is when it repeats one.

    What is asked for is not looked up: the outcome is the same for what is held, hidden and absent.
    Raises `AccessRequestError` for nothing or too much, and `TooMany`.
    """
    wanted, reason = _line(wanted), visible(reason).strip()
    if not wanted:
        raise AccessRequestError(_("Say what you are looking for: a DOI, a title or an id."))
    if len(wanted) > LONGEST_WANTED or len(reason) > LONGEST_REASON:
        raise AccessRequestError(
            _("At most %(wanted)s characters for what you look for and %(reason)s for the reason.")
            % {"wanted": LONGEST_WANTED, "reason": LONGEST_REASON}
        )
    # One at a time for each person, so that what is counted stays true.
    User.objects.select_for_update().get(pk=by.pk)
    own = AccessRequest.objects.filter(asked_by=by)
    repeated = own.filter(wanted_key=key_of(wanted), state=State.OPEN).first()
    if repeated is not None:
        return repeated
    if own.filter(created_at__gt=timezone.now() - timedelta(days=1)).count() >= MOST_A_DAY:
        raise TooMany
    return AccessRequest.objects.create(asked_by=by, wanted=wanted, wanted_key=key_of(wanted), reason=reason)


@transaction.atomic
def decide(*, ids: Collection[int], grant: bool, note: str, by: User) -> int:
    """Close open requests with an answer that whoever asked will read; return how many.

    All or nothing. Raises `AccessRequestError` when `by` may not decide, when one was decided already, or
    when a refusal has no note.
    """
    if not by.has_perm(PERMISSION):
        raise AccessRequestError(_("You may not decide on requests for access."))
    note = visible(note).strip()
    if not grant and not note:
        raise AccessRequestError(_("Say why, so that whoever asked knows."))
    if len(note) > LONGEST_REASON:
        raise AccessRequestError(_("At most %(n)s characters.") % {"n": LONGEST_REASON})
    rows = AccessRequest.objects.select_for_update().filter(pk__in=ids).order_by("id")
    if any(row.state != State.OPEN for row in rows):
        raise AccessRequestError(_("Somebody has decided on it in the meantime."))
    return AccessRequest.objects.filter(pk__in=[row.pk for row in rows]).update(
        state=State.GRANTED if grant else State.DECLINED,
        note=note,
        decided_at=timezone.now(),
        decided_by_id=by.pk,
        decided_by_name=by.get_username(),
    )


def _line(text: str) -> str:
    return " ".join(visible(text).split())
