from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.apps import AppConfig
from django.db.models.signals import post_migrate

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class CorpusConfig(AppConfig):
    name = "corpus"

    def ready(self) -> None:
        from corpus import checks  # noqa: F401  (registers itself)
        from corpus.roles import create_missing_roles
        from corpus.webhooks import events

        post_migrate.connect(create_missing_roles, sender=self, dispatch_uid="corpus.roles")
        events.register(event=events.Event.INGEST_FINISHED, kind="ingestion", describe=_ended_run)


def _ended_run(to: User, subject: UUID) -> dict[str, Any] | None:
    from corpus import run_pages

    return run_pages.told(subject, to)
