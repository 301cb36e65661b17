"""The same text taken in by several processes at the same moment."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from corpus import preparation
from corpus.models import Chunk, Document, RightsDecision, Source
from corpus.reports import Outcome
from tests.integration.corpus.ingesting import HashEmbedder, only, paper, take, write

pytestmark = pytest.mark.django_db(transaction=True)


class Waiting(HashEmbedder):
    """Lets nobody store before everybody has embedded."""

    def __init__(self, barrier: Barrier) -> None:
        super().__init__()
        self.barrier = barrier

    def embed(self, texts, *, task, carries):
        vectors = super().embed(texts, task=task, carries=carries)
        self.barrier.wait(timeout=60)
        return vectors


def test_one_document_is_stored_and_the_others_get_its_id(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    count = 4
    barrier = Barrier(count)
    names = [write(tmp_path, f"copy{number}.md", paper("90 days")) for number in range(count)]

    def one(path):
        try:
            return only(take(path, embedder=Waiting(barrier)))
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        items = list(pool.map(one, names))

    outcomes = sorted(item.outcome for item in items)
    assert outcomes == [Outcome.DUPLICATE] * (count - 1) + [Outcome.READY]
    assert len({item.document for item in items}) == 1
    assert (Document.objects.count(), Chunk.objects.count(), Source.objects.count()) == (1, 3, 1)
    assert RightsDecision.objects.count() == 0


def test_no_connection_is_held_while_a_parser_or_a_model_runs(tmp_path, settings, monkeypatch):
    settings.MEDIA_ROOT = tmp_path / "media"
    held = []

    class Watching(HashEmbedder):
        def embed(self, texts, *, task, carries):
            held.append(connection.connection)
            return super().embed(texts, task=task, carries=carries)

    parse = preparation.parse

    def watched(*arguments, **options):
        held.append(connection.connection)
        return parse(*arguments, **options)

    monkeypatch.setattr(preparation, "parse", watched)

    assert only(take(write(tmp_path, "a.md", paper("90 days")), embedder=Watching())).outcome == "ready"
    assert held == [None, None]
