from django.apps import AppConfig
from django.db.models.signals import post_delete, pre_delete


class RetrievalConfig(AppConfig):
    name = "retrieval"
    verbose_name = "Knowledge graph"

    def ready(self) -> None:
        from corpus.models import Document
        from retrieval.graph import signals

        pre_delete.connect(signals.remember_what_it_names, sender=Document, dispatch_uid="graph.remember")
        post_delete.connect(
            signals.remove_what_nothing_else_names, sender=Document, dispatch_uid="graph.remove"
        )
