from django.apps import AppConfig
from django.db.models.signals import post_migrate


class CorpusConfig(AppConfig):
    name = "corpus"

    def ready(self) -> None:
        from corpus import checks  # noqa: F401  (registers itself)
        from corpus.roles import create_missing_roles

        post_migrate.connect(create_missing_roles, sender=self, dispatch_uid="corpus.roles")
