from typing import Any

from django.apps import AppConfig
from django.db.models.signals import pre_delete


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        """Have ground truth lose the words of documents that are deleted."""
        from corpus.models import Document

        pre_delete.connect(_forget_words, sender=Document, dispatch_uid="evaluation.forget_words")


def _forget_words(sender: object, instance: Any, **_: object) -> None:
    from evaluation.actions.questions import forget_words

    forget_words(document=instance)
