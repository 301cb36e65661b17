from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.apps import AppConfig
from django.db.models.signals import pre_delete

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        """Have ground truth lose the words of documents that are deleted."""
        from corpus.models import Document
        from corpus.webhooks import events

        pre_delete.connect(_forget_words, sender=Document, dispatch_uid="evaluation.forget_words")
        events.register(event=events.Event.RUN_FINISHED, kind="evaluation", describe=_ended_run)


def _ended_run(to: User, subject: UUID) -> dict[str, Any] | None:
    from evaluation.runs import telling

    return telling.told(subject, to)


def _forget_words(sender: object, instance: Any, **_: object) -> None:
    from evaluation.actions.questions import forget_words

    forget_words(document=instance)
