"""Recording what was asserted about a work, and deriving its status from all of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Protocol

import pghistory
from django.db import transaction

from corpus.identifiers import normalise_doi
from corpus.models import EditorialEvent, Source
from corpus.signals import standing_changed
from corpus.webhooks import actions as webhooks
from corpus.webhooks.events import Event

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Kind = EditorialEvent.Kind

_RETRACTING = frozenset({Kind.RETRACTION, Kind.WITHDRAWAL, Kind.REMOVAL})


class Assertion(Protocol):
    """What deriving a status needs to know of an event."""

    @property
    def kind(self) -> str:
        """Return what was asserted, one of `EditorialEvent.Kind`."""

    @property
    def happened_on(self) -> date:
        """Return the day of the notice."""

    @property
    def notice_doi(self) -> str:
        """Return the notice's normalised DOI, empty when there is none."""


@dataclass(frozen=True, slots=True)
class EditorialStatus:
    """The badges a work carries."""

    is_retracted: bool = False
    has_concern: bool = False
    is_corrected: bool = False


def derive(events: Iterable[Assertion]) -> EditorialStatus:
    """Return the status that `events`, given in the order they were recorded, amount to.

    They are read by the day they happened, and as recorded within a day. A reinstatement ends a
    retraction and the concerns that came before it. A replacement ends nothing: the version it is
    recorded on stays as it was, and the new version is a work of its own. One notice that two
    indexes report with different dates counts once, on the earlier day, so that a late report of an
    old retraction does not undo a reinstatement.
    """
    retracted = concern = corrected = False
    seen: set[tuple[str, str]] = set()
    for event in sorted(events, key=lambda event: event.happened_on):
        notice = (event.kind, event.notice_doi)
        if event.notice_doi and notice in seen:
            continue
        seen.add(notice)
        if event.kind in _RETRACTING:
            retracted = True
        elif event.kind == Kind.REINSTATEMENT:
            retracted = concern = False
        elif event.kind == Kind.CONCERN:
            concern = True
        elif event.kind == Kind.CORRECTION:
            corrected = True
    return EditorialStatus(retracted, concern, corrected)


@transaction.atomic
def record_event(
    *,
    source: Source,
    kind: str,
    origin: str,
    happened_on: date,
    by: User | None = None,
    note: str = "",
    notice_doi: str = "",
) -> EditorialEvent:
    """Record one explicit assertion about `source` and bring its status up to date.

    The same assertion of the same origin is recorded once; recording it again changes nothing.
    """
    locked = Source.objects.select_for_update().get(pk=source.pk)
    with _context(by, note or f"{Kind(kind).label} recorded"):
        event, _ = EditorialEvent.objects.get_or_create(
            source=locked,
            kind=kind,
            origin=origin,
            happened_on=happened_on,
            # Indexes write "unavailable" and the like here: what is no DOI identifies no notice.
            notice_doi=normalise_doi(notice_doi) or "",
            defaults={"note": note, "recorded_by": by},
        )
        _refresh(locked)
    source.refresh_from_db(fields=["is_retracted", "has_concern", "is_corrected"])
    return event


@transaction.atomic
def withdraw_event(*, event: EditorialEvent, by: User) -> None:
    """Take back an event a person entered by mistake, and derive the status without it.

    Raises `ValueError` for what an index asserted: that is answered by another event, not removed.
    The history keeps the event and who withdrew it.
    """
    if event.origin != EditorialEvent.Origin.MANUAL:
        raise ValueError(f"an event from {event.origin} may not be withdrawn")
    source = Source.objects.select_for_update().get(pk=event.source_id)
    with _context(by, f"{event.get_kind_display()} withdrawn"):
        event.delete()
        _refresh(source)


def _refresh(source: Source) -> None:
    """Derive the status of `source`, which is locked, and tell of it when it is another than before."""
    status = derive(source.events.order_by("recorded_at", "id"))
    if status == EditorialStatus(source.is_retracted, source.has_concern, source.is_corrected):
        return
    _announce(source, status)
    Source.objects.filter(pk=source.pk).update(
        is_retracted=status.is_retracted, has_concern=status.has_concern, is_corrected=status.is_corrected
    )
    # Nobody who fails to hear it may undo what was recorded.
    tell = partial(standing_changed.send_robust, sender=Source, source_id=source.pk)
    transaction.on_commit(tell, robust=True)


def _announce(source: Source, status: EditorialStatus) -> None:
    """Tell webhooks that the work is retracted or doubted, or is no longer; a correction alarms nobody."""
    changed = {
        "retracted": status.is_retracted != source.is_retracted,
        "concern": status.has_concern != source.has_concern,
    }
    for kind in (name for name, is_other in changed.items() if is_other):
        webhooks.announce(event=Event.RETRACTION_ALERT, kind=kind, subject=source.pk)


def _context(by: User | None, reason: str) -> pghistory.context:
    return pghistory.context(reason=reason) if by is None else pghistory.context(user=by.pk, reason=reason)
