"""Routes of the corpus's part of the API."""

from django.urls import path

from corpus.api import documents, ingesting, state

urlpatterns = [
    path("documents", documents.Documents.as_view(), name="api_documents"),
    path("documents/<uuid:document_id>", documents.OneDocument.as_view(), name="api_document"),
    path("chunks/<uuid:passage_id>", documents.OneChunk.as_view(), name="api_chunk"),
    path("sources", documents.Sources.as_view(), name="api_sources"),
    path("status", state.StatusView.as_view(), name="api_status"),
    path("corpus-manifest", state.ManifestView.as_view(), name="api_manifest"),
    path("ingest", ingesting.IngestView.as_view(), name="api_ingest"),
    path("runs/<uuid:run_id>", ingesting.OneRun.as_view(), name="api_run"),
    path("health", state.HealthView.as_view(), name="api_health"),
]
