from django.apps import AppConfig
from django.db.models import Exists, OuterRef, Q
from django.db.models.signals import pre_delete


class AnswersConfig(AppConfig):
    name = "answers"

    def ready(self) -> None:
        """Have answers hear of documents that are deleted and works whose status changes."""
        from answers.actions.alerts import after_a_change
        from answers.actions.withdrawal import before_deletion
        from answers.notebook.actions import follow_identified
        from answers.notebook.models import ObservationSource
        from corpus.enrichment import planning
        from corpus.models import Document, Source
        from corpus.signals import identified, standing_changed

        pre_delete.connect(before_deletion, sender=Document, dispatch_uid="answers.withdraw")
        identified.connect(follow_identified, sender=Source, dispatch_uid="answers.identified")
        # What somebody keeps a note on is checked for retractions though nothing of it is held.
        planning.followed.append(Q(Exists(ObservationSource.objects.filter(source=OuterRef("pk")))))
        standing_changed.connect(after_a_change, sender=Source, dispatch_uid="answers.alerts")
