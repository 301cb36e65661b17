"""Every message delivered two to five times, at once and again when all is done: one effect each."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connections

from corpus import enqueueing, tasks
from corpus.egress import NOTHING_HELD
from corpus.enrichment import running as enrichment
from corpus.gateways import embedding
from corpus.inputs import from_manifest
from corpus.models import Chunk, Document, EditorialEvent, Job, RightsDecision, SourceCheck
from retrieval import tasks as graph_tasks
from retrieval.graph.extraction import background
from retrieval.models import ChunkStamp, ExtractionRun, Mention
from tests.loopback.crossref_server import CrossrefServer
from tests.loopback.openai_server import OpenAIServer
from tests.reliability import invariants
from tests.reliability.faults import flows

pytestmark = pytest.mark.xdist_group("use-ledger")

THREADS = 4
_choose = random.Random(3)  # noqa: S311 - as often every time


def delivered(messages: Sequence[tuple[Callable[..., None], tuple[str, ...]]]) -> int:
    """Deliver each message two to five times, in disorder and side by side; return how many that were."""
    copies = [message for message in messages for _ in range(_choose.randint(2, 5))]
    _choose.shuffle(copies)

    def deliver(message: tuple[Callable[..., None], tuple[str, ...]]) -> None:
        task, arguments = message
        try:
            task(*arguments)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(deliver, copies))
    return len(copies)


def of_jobs(kind: str) -> list[tuple[Callable[..., None], tuple[str, ...]]]:
    return [(tasks.work, (str(job),)) for job in Job.objects.filter(kind=kind).values_list("pk", flat=True)]


@pytest.fixture
def asked(index: CrossrefServer, settings: object, monkeypatch: pytest.MonkeyPatch) -> CrossrefServer:
    for name, value in {
        "SCI_RAG_CONTACT_EMAIL": "library@lab.example",
        "SCI_RAG_CROSSREF_URL": index.base_url,
        "SCI_RAG_OUTBOUND_HOSTS": [index.host],
    }.items():
        setattr(settings, name, value)
    monkeypatch.setattr(enrichment, "PAUSE_SECONDS", 0.0)
    return index


# A hundred deliveries of five files are made in every run, by tests/integration/corpus/test_pipeline.py.
@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("documents", [40])
def test_each_message_delivered_again_and_again_has_one_effect(
    transactional_db: None, provider: OpenAIServer, asked: CrossrefServer, tmp_path: Path, documents: int
) -> None:
    manifest = flows.write_corpus(tmp_path / "in", count=documents)
    enqueueing.enqueue(from_manifest(manifest), by=None)

    # One client for all threads: those that they would make at once are left to the collector.
    embedding.configured_embedder().embed(["Warm"], task="document", carries=NOTHING_HELD)
    provider.requests.clear()

    count = delivered(of_jobs("parse"))
    count += delivered([*of_jobs("embed"), *of_jobs("settle")])
    count += delivered(of_jobs("settle"))
    embedded = Counter(text for seen in provider.requests for text in seen.body.get("input", ()))
    runs = [background.enqueue(kind="rules", limit=None, by=None) for _ in range(documents // 4)]
    count += delivered([(graph_tasks.extract_graph, (str(run.pk),)) for run in runs])
    count += delivered([(tasks.check_sources, ())] * (documents // 4))
    before = _effects()
    # An hour late, when everything is done.
    count += delivered([*of_jobs("parse"), *of_jobs("embed"), *of_jobs("settle")])
    count += delivered([(graph_tasks.extract_graph, (str(run.pk),)) for run in runs])

    print(f"{count} deliveries")  # noqa: T201
    assert count >= 500
    assert _effects() == before
    assert [*invariants.broken(), *invariants.records_apart()] == []
    assert (Document.objects.count(), RightsDecision.objects.count()) == (documents, documents)
    assert set(Job.objects.values_list("state", "attempt")) == {("done", 1)}
    assert set(embedded.values()) == {1}
    assert sum(embedded.values()) == Chunk.objects.count() == ChunkStamp.objects.count()
    assert set(ExtractionRun.objects.values_list("state", flat=True)) == {"finished"}
    assert sum(ExtractionRun.objects.values_list("passages_done", flat=True)) == Chunk.objects.count()
    assert EditorialEvent.objects.count() == 1
    assert set(SourceCheck.objects.values_list("outcome", flat=True)) <= {"good", "check_failed"}


def _effects() -> tuple[int, ...]:
    return tuple(
        model.objects.count()
        for model in (Document, Chunk, RightsDecision, Mention, SourceCheck, EditorialEvent)
    )
