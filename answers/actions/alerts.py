"""Telling people that a work their answers cite or their notes name was retracted, doubted or held back.

What is to be told follows from the rows. Bringing messages up to date again, after a crash or at the same
time as somebody else, changes nothing that is right already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from answers import alerts
from answers.notices import Notice
from corpus.models import Source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)


@transaction.atomic
def bring_up_to_date(*, source_id: UUID | None = None) -> int:
    """Open the messages that are missing and resolve those that hold no more; return how many changed.

    About one work, or about all of them: by the clock, for what no process lived to tell.
    """
    if source_id is not None:
        # Whoever changes the work's status waits, so that nobody tells what is not so any more.
        Source.objects.select_for_update().filter(pk=source_id).first()
    opened = sum(_open(kind, source_id) for kind in Notice.Kind)
    resolved = sum(_resolve(kind, source_id) for kind in Notice.Kind)
    if opened or resolved:
        logger.info("notice.brought_up_to_date", opened=opened, resolved=resolved)
    return opened + resolved


def mark_read(*, by: User, ids: Iterable[int] | None = None) -> int:
    """Mark the messages to `by` as read, all of them or those with `ids`; return how many were not."""
    notices = Notice.objects.filter(recipient=by, read_at__isnull=True)
    if ids is not None:
        notices = notices.filter(pk__in=list(ids))
    return notices.update(read_at=timezone.now())


def after_a_change(sender: type[Source], source_id: UUID, **_: Any) -> None:
    """Hear that the status of a work has changed."""
    bring_up_to_date(source_id=source_id)


def _open(kind: alerts.Kind, source_id: UUID | None) -> int:
    citations = alerts.concerned(kind).filter(answer__asked_by__isnull=False)
    links = alerts.noted(kind)
    held = Notice.objects.filter(kind=kind, resolved_at__isnull=True)
    if source_id is not None:
        citations = citations.filter(document__source=source_id)
        links, held = links.filter(source=source_id), held.filter(source=source_id)
    cited = citations.order_by().values_list("answer__asked_by_id", "answer_id", "document__source_id")
    linked = links.order_by().values_list("observation__owner_id", "observation_id", "source_id")
    wanted: set[tuple[Any, ...]] = {
        (recipient, answer, None, source) for recipient, answer, source in cited.distinct()
    }
    wanted |= {(recipient, None, note, source) for recipient, note, source in linked}
    wanted -= set(held.order_by().values_list("recipient_id", "answer_id", "observation_id", "source_id"))
    notices = [
        Notice(recipient_id=recipient, answer_id=answer, observation_id=note, source_id=source, kind=kind)
        for recipient, answer, note, source in sorted(wanted, key=str)
    ]
    # Another process may tell the same at this moment.
    Notice.objects.bulk_create(notices, batch_size=2_000, ignore_conflicts=True)
    return len(wanted)


def _resolve(kind: alerts.Kind, source_id: UUID | None) -> int:
    still = Source.objects.filter(alerts.holding(kind), pk=OuterRef("source_id"))
    over = Notice.objects.filter(~Exists(still), kind=kind, resolved_at__isnull=True)
    if source_id is not None:
        over = over.filter(source=source_id)
    return over.update(resolved_at=timezone.now())
