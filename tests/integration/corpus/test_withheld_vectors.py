"""A document whose licence keeps it from the provider of vectors is taken in all the same."""

from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from corpus.gateways import embedding
from corpus.ingestion import ingest
from corpus.inputs import Batch
from corpus.manifest import Described, Entry
from corpus.models import ChunkEmbedding, Document
from corpus.rights import LicenseClass
from tests.loopback.fixtures import KEY_CANARY
from tests.loopback.openai_server import OpenAIServer, Reply

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_is_found_by_its_words_alone(
    tmp_path: Path, settings: Settings, model_server: OpenAIServer
) -> None:
    (tmp_path / "domain.yaml").write_text("name: Test\n", encoding="utf-8")
    (tmp_path / "egress.yaml").write_text("local: []\n", encoding="utf-8")
    settings.DOMAIN_DIR = tmp_path
    settings.SCI_RAG_EMBEDDING_API_BASE = model_server.base_url
    settings.SCI_RAG_EMBEDDING_API_KEY = KEY_CANARY
    settings.SCI_RAG_EMBEDDING_MODEL = "openai/test"
    embedding.forget()
    model_server.will(Reply())
    entries = []
    for name, license_class in (("open", LicenseClass.PUBLIC), ("unknown", None)):
        path = tmp_path / f"{name}.md"
        path.write_text(f"# {name}\n\nThe {name} reactor at Zanzibar ran for forty days.\n", encoding="utf-8")
        entries.append(Entry(path, path.name, Described(license_class=license_class)))

    report = ingest(Batch("test", tuple(entries)), embedder=embedding.embedder_of("openai/test@384"))
    embedding.forget()

    assert [one.reason for one in report.reports] == ["", "withheld"]
    assert "found by its words alone" in report.reports[1].detail
    assert Document.objects.filter(state="ready").count() == 2
    assert set(ChunkEmbedding.objects.values_list("document__license_class", flat=True)) == {"public"}
    assert not any("unknown reactor" in str(request.body) for request in model_server.requests)
