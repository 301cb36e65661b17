from django.apps import AppConfig
from django.db.models.signals import pre_delete


class AnswersConfig(AppConfig):
    name = "answers"

    def ready(self) -> None:
        """Have answers let go of a document's words before it is deleted."""
        from answers.actions.withdrawal import before_deletion
        from corpus.models import Document

        pre_delete.connect(before_deletion, sender=Document, dispatch_uid="answers.withdraw")
