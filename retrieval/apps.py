from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.apps import AppConfig
from django.db.models.signals import post_delete, pre_delete

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class RetrievalConfig(AppConfig):
    name = "retrieval"
    verbose_name = "Knowledge graph"

    def ready(self) -> None:
        from corpus.models import Document
        from corpus.webhooks import events
        from retrieval.graph import signals

        pre_delete.connect(signals.remember_what_it_names, sender=Document, dispatch_uid="graph.remember")
        post_delete.connect(
            signals.remove_what_nothing_else_names, sender=Document, dispatch_uid="graph.remove"
        )
        events.register(event=events.Event.RUN_FINISHED, kind="extraction", describe=_ended_run)


def _ended_run(to: User, subject: UUID) -> dict[str, Any] | None:
    from retrieval.graph import telling

    return telling.told(subject, to)
