"""What can be told, and who says what of it may be told to whom.

The apps above register how an event is described to somebody: in ids, counts and states, as its owner may
know them at that moment, or not at all. A message therefore never holds more than a page would.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class Event(StrEnum):
    RETRACTION_ALERT = "retraction_alert"
    INGEST_FINISHED = "ingest_finished"
    RUN_FINISHED = "run_finished"
    # Sent to one webhook when somebody asks for it; nobody subscribes.
    TEST = "test"


SUBSCRIBABLE = (Event.RETRACTION_ALERT, Event.INGEST_FINISHED, Event.RUN_FINISHED)
LABELS: dict[Event, str] = {
    Event.RETRACTION_ALERT: "A work was retracted or doubted, or is no longer",
    Event.INGEST_FINISHED: "Files were taken in",
    Event.RUN_FINISHED: "An evaluation or an extraction ended",
    Event.TEST: "A test",
}

# What happened to which row, as somebody may know it; None where they may not.
Describe = Callable[["User", UUID], dict[str, Any] | None]
_describers: dict[tuple[str, str], Describe] = {}


def register(*, event: Event, kind: str, describe: Describe) -> None:
    """Have `describe` say what somebody may be told of the rows that `event` of `kind` is about."""
    _describers[(event.value, kind)] = describe


def described(*, event: str, kind: str, subject: UUID | None, to: User) -> dict[str, Any] | None:
    """Return what `to` may be told of `subject` now; None for nothing."""
    if event == Event.TEST or subject is None:
        return {}
    describe = _describers.get((event, kind))
    return None if describe is None else describe(to, subject)
