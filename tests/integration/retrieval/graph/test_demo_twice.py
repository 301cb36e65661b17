"""The demo corpus taken in, deleted to the last row, and taken in again the other way round."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from corpus.ingestion import Unwatched
from corpus.models import Document, Source
from retrieval.graph.communities import scopes
from retrieval.graph.queries import digest
from retrieval.models import Community, Entity
from sci_rag_site.commands import demo_corpus
from tests.integration.retrieval.graph.grouping import content

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("demo-corpus")]


def graph_of_the_demo() -> tuple[str, dict[str, Any]]:
    demo_corpus.load(Unwatched())
    demo_corpus.read_graph()
    assert demo_corpus.build_communities() > 0
    return digest(), {name: content(name) for name in scopes.named()}


@pytest.mark.long
def test_the_demo_has_the_same_graph_and_communities_whatever_the_order(
    settings: Settings, tmp_path: Path
) -> None:
    first = graph_of_the_demo()
    documents = list(Document.objects.order_by("pk").values_list("pk", flat=True))
    Document.objects.all().delete()
    Source.objects.all().delete()
    assert not Community.objects.exists()
    assert not Entity.objects.exists()
    settings.DOMAIN_DIR = Path(shutil.copytree(settings.DOMAIN_DIR, tmp_path / "domain"))
    manifest = settings.DOMAIN_DIR / "demo" / "manifest.jsonl"
    lines = [line for line in manifest.read_text().splitlines() if line.strip() and line[0] != "#"]
    manifest.write_text("\n".join(reversed(lines)))

    second = graph_of_the_demo()

    assert second == first
    assert not Document.objects.filter(pk__in=documents).exists()
    assert demo_corpus.build_communities() == 0
