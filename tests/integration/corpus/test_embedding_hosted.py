"""The hosted embedder: the real litellm against a provider on the loopback range."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from corpus.egress import NOTHING_HELD
from corpus.gateways import embedding
from corpus.gateways.embedding import EmbeddingError
from corpus.gateways.embedding.hosted import HostedEmbedder
from tests.loopback.fixtures import KEY_CANARY, forget_clients
from tests.loopback.openai_server import HANGS, HTML, OpenAIServer, Reply, fails

DIMENSIONS = 8
Rows = list[dict[str, Any]]


def row(index: int, *values: float) -> dict[str, Any]:
    return {"object": "embedding", "index": index, "embedding": list(values)}


def one_hot(texts: list[str]) -> Rows:
    """Return a vector for each text that tells its length, 12 dimensions wide."""
    return [
        row(index, *(1.0 if place == len(text) % DIMENSIONS else 0.0 for place in range(12)))
        for index, text in enumerate(texts)
    ]


@pytest.fixture(scope="module", autouse=True)
def _close_clients() -> Iterator[None]:
    yield
    forget_clients()


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpus.gateways.embedding.hosted._PAUSE", 0.01)


@pytest.fixture
def embedder(model_server: OpenAIServer) -> HostedEmbedder:
    return HostedEmbedder(
        model="openai/test-embedding",
        dimensions=DIMENSIONS,
        api_base=model_server.base_url,
        api_key=KEY_CANARY,
    )


def test_vectors_come_in_order_cut_and_of_unit_length(
    model_server: OpenAIServer, embedder: HostedEmbedder
) -> None:
    model_server.will(Reply(vectors=lambda texts: list(reversed(one_hot(texts)))))

    rows = embedder.embed(["a", "bb", "ccc"], task="document", carries=NOTHING_HELD)

    assert rows.shape == (3, DIMENSIONS)
    assert rows.argmax(axis=1).tolist() == [1, 2, 3]
    assert embedder.version == "openai/test-embedding@8"


def test_many_texts_go_out_in_several_requests(model_server: OpenAIServer, embedder: HostedEmbedder) -> None:
    model_server.will(Reply(vectors=one_hot))
    texts = ["x" * (number % 8 or 8) for number in range(150)]

    rows = embedder.embed(texts, task="document", carries=NOTHING_HELD)

    assert rows.argmax(axis=1).tolist() == [len(text) % DIMENSIONS for text in texts]
    assert [len(request.body["input"]) for request in model_server.requests] == [64, 64, 22]


@pytest.mark.parametrize(
    ("vectors", "complaint"),
    [
        (lambda texts: one_hot(texts)[:-1], "1 vectors for 2 texts"),
        (lambda texts: one_hot([*texts, "more"]), "3 vectors for 2 texts"),
        (lambda texts: [row(0, *[1.0] * 8), row(0, *[1.0] * 8)], "numbered them wrongly"),
        (lambda texts: [row(0, 1.0, 0.0), row(1, 1.0, 0.0)], "2 dimensions where 8"),
        (lambda texts: [row(0, *[0.0] * 8), row(1, *[1.0] * 8)], "without direction"),
        (lambda texts: [row(0, *[float("nan")] * 8), row(1, *[1.0] * 8)], "finite|refused"),
        (lambda texts: [{**row(0), "embedding": ["a"] * 8}, row(1, *[1.0] * 8)], "numbers|refused"),
        (lambda texts: [{"object": "embedding"}, row(1, *[1.0] * 8)], "not a list of embeddings|refused"),
    ],
)
def test_vectors_that_may_not_be_stored_are_refused(
    model_server: OpenAIServer,
    embedder: HostedEmbedder,
    vectors: Callable[[list[str]], Rows],
    complaint: str,
) -> None:
    model_server.will(Reply(vectors=vectors))

    with pytest.raises(EmbeddingError, match=complaint):
        embedder.embed(["one", "two"], task="document", carries=NOTHING_HELD)


@pytest.mark.parametrize("status", [401, 403, 404, 422])
def test_a_refusal_is_not_tried_again_and_repeats_nothing(
    model_server: OpenAIServer, embedder: HostedEmbedder, status: int
) -> None:
    model_server.will(fails(status))

    with pytest.raises(EmbeddingError) as caught:
        embedder.embed(["a secret passage"], task="document", carries=NOTHING_HELD)

    assert len(model_server.requests) == 1
    assert KEY_CANARY not in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_failure_that_passes_is_tried_once_more_for_documents_and_not_for_queries(
    model_server: OpenAIServer, embedder: HostedEmbedder, status: int
) -> None:
    model_server.will(fails(status), Reply(vectors=one_hot))
    assert embedder.embed(["ab"], task="document", carries=NOTHING_HELD).argmax() == 2

    model_server.will(fails(status), Reply(vectors=one_hot))
    with pytest.raises(EmbeddingError, match=str(status)):
        embedder.embed(["ab"], task="query", carries=NOTHING_HELD)


@pytest.mark.parametrize("reply", [HTML, Reply(body=b'{"data": '), Reply(body=b"")])
def test_garbage_is_an_embedding_error(
    model_server: OpenAIServer, embedder: HostedEmbedder, reply: Reply
) -> None:
    model_server.will(reply)

    with pytest.raises(EmbeddingError):
        embedder.embed(["one"], task="query", carries=NOTHING_HELD)


def test_a_provider_that_hangs_is_left_within_the_time_of_a_query(
    model_server: OpenAIServer, embedder: HostedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("corpus.gateways.embedding.hosted._TIMEOUT", {"query": 0.5, "document": 0.5})
    model_server.will(HANGS)
    started = time.monotonic()

    with pytest.raises(EmbeddingError):
        embedder.embed(["one"], task="query", carries=NOTHING_HELD)

    assert time.monotonic() - started < 1.5


def test_a_provider_that_keeps_failing_is_left_alone(
    model_server: OpenAIServer, embedder: HostedEmbedder
) -> None:
    model_server.will(fails(503))
    for _ in range(5):
        with pytest.raises(EmbeddingError):
            embedder.embed(["one"], task="query", carries=NOTHING_HELD)
    asked = len(model_server.requests)

    with pytest.raises(EmbeddingError, match="left alone"):
        embedder.embed(["one"], task="query", carries=NOTHING_HELD)

    assert len(model_server.requests) == asked


def test_the_settings_choose_the_embedder(model_server: OpenAIServer, settings: Any) -> None:
    settings.SCI_RAG_EMBEDDING_MODEL = "openai/test-embedding"
    settings.SCI_RAG_EMBEDDING_DIMENSIONS = 8
    settings.SCI_RAG_EMBEDDING_API_BASE = model_server.base_url
    settings.SCI_RAG_EMBEDDING_API_KEY = KEY_CANARY
    embedding.forget()
    model_server.will(Reply(vectors=one_hot))
    try:
        vector = embedding.embed_query("abc")
        again = embedding.embed_query("abc")
        described = repr(embedding.configured_embedder())
    finally:
        embedding.forget()

    assert vector.argmax() == 3
    assert np.array_equal(vector, again)
    assert len(model_server.requests) == 1
    assert KEY_CANARY not in described


def test_the_offline_model_refuses_other_dimensions(settings: Any) -> None:
    settings.SCI_RAG_EMBEDDING_DIMENSIONS = 512
    embedding.forget()
    try:
        with pytest.raises(EmbeddingError, match="384"):
            embedding.configured_embedder()
    finally:
        embedding.forget()
