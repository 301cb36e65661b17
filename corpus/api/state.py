"""What a key works with: the state of the corpus as far as it sees it, and what it may do."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from rest_framework.request import Request

from corpus import ceilings, fingerprint
from corpus.api.documents import TAG, scope_of
from corpus.api.schema import Operation, describes
from corpus.api.shapes import CorpusManifest, Health, Status
from corpus.api.views import ApiView, OpenView, reply
from corpus.export import writing
from corpus.keys.permissions import Permission

_STATE = "State"


class HealthView(OpenView):
    """Whether the site answers."""

    @describes(Operation("get_health", "Ask whether the site answers", Health, _STATE, is_open=True))
    def get(self, request: Request) -> HttpResponse:
        """Say that it does."""
        return reply(Health(status="ok"))


class StatusView(ApiView):
    """What the key may do, and with what."""

    permissions = {"GET": Permission.READ}

    @describes(Operation("get_status", "See what the key works with", Status, _STATE))
    def get(self, request: Request) -> HttpResponse:
        """Count what the key may see, and name what searches and answers."""
        caller = self.caller
        ceiling = ceilings.of(caller.user)
        state = fingerprint.state(scope_of(self))
        return reply(
            Status(
                status="ok",
                version=version("sci-rag"),
                documents=state.documents,
                passages=state.passages,
                fingerprint=state.fingerprint,
                embedding_version=state.version[1] if state.version else "",
                model=settings.SCI_RAG_LLM_MODEL,
                license_classes=[item.value for item in ceiling.license_classes],
                buckets=None if ceiling.buckets is None else list(ceiling.buckets),
                permissions=sorted(caller.permissions),
                requests_per_minute=caller.requests_per_minute,
            )
        )


class ManifestView(ApiView):
    """The corpus described as a whole."""

    permissions = {"GET": Permission.READ}

    @describes(Operation("get_corpus_manifest", "Describe the corpus as a whole", CorpusManifest, TAG))
    def get(self, request: Request) -> HttpResponse:
        """Describe what the key may see: its fingerprint, its classes, how much there is."""
        described: dict[str, Any] = writing.described(scope_of(self))
        return reply(CorpusManifest.model_validate(described))
