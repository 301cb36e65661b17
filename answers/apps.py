from django.apps import AppConfig
from django.db.models.signals import pre_delete


class AnswersConfig(AppConfig):
    name = "answers"

    def ready(self) -> None:
        """Have answers hear of documents that are deleted and works whose status changes."""
        from answers.actions.alerts import after_a_change
        from answers.actions.withdrawal import before_deletion
        from corpus.models import Document, Source
        from corpus.signals import standing_changed

        pre_delete.connect(before_deletion, sender=Document, dispatch_uid="answers.withdraw")
        standing_changed.connect(after_a_change, sender=Source, dispatch_uid="answers.alerts")
