"""The world of the sweep: a store, a provider of models and an index on the loopback range, and six flows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from corpus import pipeline
from corpus.enrichment import running as enrichment
from corpus.gateways import embedding
from corpus.models import Chunk
from tests.integration.retrieval.graph.merging import edge, propose
from tests.loopback import crossref_server as index_says
from tests.loopback.crossref_server import CrossrefServer, update
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, Reply, Request, fails, says
from tests.reliability.faults import flows
from tests.reliability.faults.flows import Flow
from tests.reliability.faults.injecting import HTTP, Injector
from tests.reliability.faults.sweeping import Sweep
from tests.reliability.faults.world import World

MODEL = "openai/test-embedding@384"
OTHER = "openai/other-embedding@384"
ANSWER = says("Straw was stored for 5 days [1].")
_OF_INDEX = {
    "reset": index_says.TRUNCATED,
    "unavailable": index_says.BROKEN,
    "timeout": index_says.Fault(wait=3.6),
}


@pytest.fixture
def injector(tmp_path: Path, settings: Settings) -> Injector:
    settings.MEDIA_ROOT = tmp_path / "media"
    return Injector(settings.MEDIA_ROOT)


@pytest.fixture
def provider(
    model_server: OpenAIServer, injector: Injector, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OpenAIServer]:
    """A provider of vectors and answers whose N-th request may fail; what waits between tries does not."""
    settings.SCI_RAG_EMBEDDING_MODEL, settings.SCI_RAG_EMBEDDING_DIMENSIONS = "openai/test-embedding", 384
    settings.SCI_RAG_EMBEDDING_API_BASE = settings.SCI_RAG_LLM_API_BASE = model_server.base_url
    settings.SCI_RAG_EMBEDDING_API_KEY = settings.SCI_RAG_LLM_API_KEY = "key"
    settings.SCI_RAG_LLM_MODEL = "openai/test-model"
    monkeypatch.setattr("corpus.gateways.embedding.hosted._PAUSE", 0.0)
    monkeypatch.setattr("corpus.gateways.llm._PAUSE", 0.0)
    monkeypatch.setattr(pipeline, "_PAUSES", (0.0,) * 6)
    monkeypatch.setattr(enrichment, "PAUSE_SECONDS", 0.0)
    model_server.will_choose(lambda request: _reply(request, injector.due(HTTP)))
    forget()
    yield model_server
    forget()
    forget_clients()


def forget() -> None:
    """Begin with closed circuit breakers."""
    from corpus.gateways import llm

    llm._configured.cache_clear()
    embedding.forget()


def _reply(request: Request, error: str) -> Reply:
    if error == "unavailable":
        return fails(503)
    if error == "timeout":
        return Reply(wait=9.0)
    if error == "reset":
        streams = bool(request.body.get("stream"))
        return says("Straw ", ending="reset") if streams else Reply(body=b'{"half": ')
    return ANSWER if "messages" in request.body else Reply()


@pytest.fixture
def index(injector: Injector) -> Iterator[CrossrefServer]:
    """An index of works, one of which was retracted, whose N-th request may fail."""

    class Faults(dict[str, object]):
        """Says at each request whether it fails, in place of what is queued for a work."""

        def get(self, _: str, default: object = None) -> object:
            error = injector.due(HTTP)
            return _Queue([_OF_INDEX[error]]) if error else default

    class _Queue(list):
        def popleft(self) -> object:
            return self.pop()

    with CrossrefServer() as server:
        server.faults = Faults()  # type: ignore[assignment]
        notice = [update("retraction", "10.1000/notice", (2024, 1, 2))]
        server.add("10.1000/ash", title=["Ash"], container_title=["Residues"])
        server.add("10.1000/char", title=["Char"], updated_by=notice)
        server.add("10.1000/straw", title=["Straw"], reference=[{"unstructured": "Ash, 2020."}])
        server.add("10.1000/water", title=["Water"])
        yield server


@pytest.fixture
def sweep_of(
    transactional_db: None,
    provider: OpenAIServer,
    index: CrossrefServer,
    injector: Injector,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[str], Sweep]]:
    """Make the sweep of a flow in its world. Requests are given up after eight seconds."""
    monkeypatch.setattr("corpus.gateways.embedding.hosted._TIMEOUT", {"query": 8.0, "document": 8.0})
    monkeypatch.setattr("corpus.gateways.llm.DEADLINE_SECONDS", 8.0)
    monkeypatch.setattr("answers.writers.DEADLINE_SECONDS", 8.0)
    manifest = flows.write_corpus(tmp_path / "in")
    ingest = flows.Ingest(manifest)
    made: dict[str, Flow] = {
        flow.name: flow
        for flow in (
            ingest, flows.Ask(), flows.Enrich(index), flows.Merge(), flows.Reembed(OTHER), flows.Delete(),
        )
    }  # fmt: skip
    worlds: list[World] = []

    def make(name: str) -> Sweep:
        if name != "ingest":
            ingest.run()
        if name == "merge":
            graph()
        worlds.append(World(tmp_path / "media", tmp_path / f"world-{len(worlds)}"))
        sweep = Sweep(made[name], worlds[-1], injector)
        sweep.before = forget
        sweep.count()
        return sweep

    yield make
    for world in worlds:
        world.close()


def graph() -> None:
    """Let the passages say what merges are about, and propose two."""
    for chunk in Chunk.objects.filter(body__contains=flows.GRAPH).order_by("document__title"):
        edge("Pyrolysis", "biochar", chunk, "Pyrolysis gives biochar.")
        edge("Bio-char", "water", chunk, "Bio-char holds water.")
        edge("Charcoal", "water", chunk, "Charcoal holds water.")
    propose("biochar", "Bio-char")
    propose("biochar", "Charcoal", tier=2, confidence=0.7)
