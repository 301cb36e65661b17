from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in
from django.db.models.signals import post_migrate, pre_migrate

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class CorpusConfig(AppConfig):
    name = "corpus"

    def ready(self) -> None:
        from corpus import checks  # noqa: F401  (registers itself)
        from corpus import migration_locks as locks
        from corpus.accounts import checks as account_checks  # noqa: F401  (registers itself)
        from corpus.accounts import signing_in
        from corpus.roles import create_missing_roles
        from corpus.webhooks import events

        user_logged_in.connect(signing_in.note, dispatch_uid="corpus.accounts.signing_in")
        pre_migrate.connect(locks.wait_briefly, sender=self, dispatch_uid="corpus.migration_locks")
        post_migrate.connect(locks.wait_as_usual, sender=self, dispatch_uid="corpus.migration_locks")
        post_migrate.connect(create_missing_roles, sender=self, dispatch_uid="corpus.roles")
        events.register(event=events.Event.INGEST_FINISHED, kind="ingestion", describe=_ended_run)


def _ended_run(to: User, subject: UUID) -> dict[str, Any] | None:
    from corpus import run_pages

    return run_pages.told(subject, to)
