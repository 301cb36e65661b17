"""Providers of embeddings behind one protocol: the one that the settings choose, and that of any version."""

from __future__ import annotations

from functools import cache

from django.conf import settings

from corpus.gateways.embedding.hosted import HostedEmbedder
from corpus.gateways.embedding.minilm import MODEL, MiniLM
from corpus.gateways.embedding.protocol import Embedder, EmbeddingError, Task, TextWithheld, Vectors
from corpus.gateways.embedding.query_cache import QueryCache
from corpus.gateways.embedding.word_pieces import count_tokens

__all__ = [
    "Embedder",
    "EmbeddingError",
    "Task",
    "TextWithheld",
    "Vectors",
    "configured_embedder",
    "count_tokens",
    "embed_query",
    "embedder_of",
    "forget",
    "forget_queries",
    "version_name",
]

# What PostgreSQL can hold and index as half vectors.
MOST_DIMENSIONS = 4_000

_queries = QueryCache()


def configured_embedder() -> Embedder:
    """Return the embedder that the settings choose; raise `EmbeddingError` for one that cannot be."""
    return embedder_of(version_name(settings.SCI_RAG_EMBEDDING_MODEL, settings.SCI_RAG_EMBEDDING_DIMENSIONS))


def version_name(model: str, dimensions: int) -> str:
    """Return the name of a version: two vectors compare when these are equal."""
    return f"{model}@{dimensions}"


@cache
def embedder_of(version: str) -> Embedder:
    """Return the embedder that makes the vectors of `version`, one per process.

    Its model loads at first use. Raises `EmbeddingError` for a version that nothing can make.
    """
    model, _, number = version.rpartition("@")
    if not model or not number.isdecimal() or not 0 < int(number) <= MOST_DIMENSIONS:
        raise EmbeddingError(f"'{version}' names no model and dimensions.")
    if model == MODEL:
        return MiniLM(int(number))
    return HostedEmbedder(model=model, dimensions=int(number), **_endpoint(model))


def _endpoint(model: str) -> dict[str, str]:
    """Return address and key for `model`.

    Those of the settings are for the provider that the settings name: another one must not see the key,
    and gets its own from the variable that its name has, such as COHERE_API_KEY.
    """
    if _provider(model) != _provider(settings.SCI_RAG_EMBEDDING_MODEL):
        return {}
    return {
        "api_base": settings.SCI_RAG_EMBEDDING_API_BASE,
        "api_key": settings.SCI_RAG_EMBEDDING_API_KEY,
    }


def _provider(model: str) -> str:
    return model.partition("/")[0]


def embed_query(text: str, *, embedder: Embedder | None = None) -> Vectors:
    """Return the unit vector of a question, from the cache of the last minute where it can."""
    return _queries.vector(text, embedder=embedder or configured_embedder())


def forget_queries() -> None:
    """Drop the cached vectors of questions."""
    _queries.clear()


def forget() -> None:
    """Drop the embedders and the cached queries: settings changed, or a test begins."""
    embedder_of.cache_clear()
    forget_queries()
