from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.apps import AppConfig
from django.db.models import Exists, OuterRef, Q
from django.db.models.signals import pre_delete

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from corpus.models import Document
    from corpus.resting import Resting


class AnswersConfig(AppConfig):
    name = "answers"

    def ready(self) -> None:
        """Have answers hear of documents that are deleted and works whose status changes."""
        from answers.actions.alerts import after_a_change
        from answers.actions.withdrawal import before_deletion
        from answers.notebook.actions import follow_identified
        from answers.notebook.models import ObservationSource
        from corpus import resting
        from corpus.enrichment import planning
        from corpus.models import Document, Source
        from corpus.signals import identified, standing_changed
        from corpus.webhooks import events

        pre_delete.connect(before_deletion, sender=Document, dispatch_uid="answers.withdraw")
        identified.connect(follow_identified, sender=Source, dispatch_uid="answers.identified")
        # What somebody keeps a note on is checked for retractions though nothing of it is held.
        planning.followed.append(Q(Exists(ObservationSource.objects.filter(source=OuterRef("pk")))))
        # The screen on which a document is held back names the answers that cite it.
        resting.finders.append(_citing)
        standing_changed.connect(after_a_change, sender=Source, dispatch_uid="answers.alerts")
        for kind in ("retracted", "concern"):
            events.register(
                event=events.Event.RETRACTION_ALERT, kind=kind, describe=partial(_alert, kind=kind)
            )


def _citing(document: Document, user: User, most: int) -> tuple[list[Resting], int]:
    from django.urls import reverse

    from answers import alerts, reading
    from corpus.resting import Resting

    rows = alerts.citing(document).filter(pk__in=reading.theirs(user).values("pk"))
    found = [Resting(row.question[:160], reverse("answer", args=[row.pk])) for row in rows[:most]]
    return found, rows.count()


def _alert(to: User, subject: UUID, *, kind: str) -> dict[str, Any] | None:
    from answers import alerts

    return alerts.told(alerts.Kind(kind), subject, to)
