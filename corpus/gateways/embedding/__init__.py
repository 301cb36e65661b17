"""Providers of embeddings behind one protocol, and the one that the settings choose."""

from __future__ import annotations

from functools import cache

from django.conf import settings

from corpus.gateways.embedding.hosted import HostedEmbedder
from corpus.gateways.embedding.minilm import DIMENSIONS, MODEL, MiniLM
from corpus.gateways.embedding.protocol import Embedder, EmbeddingError, Task, Vectors
from corpus.gateways.embedding.query_cache import QueryCache
from corpus.gateways.embedding.word_pieces import count_tokens

__all__ = [
    "Embedder",
    "EmbeddingError",
    "Task",
    "Vectors",
    "active_embedder",
    "count_tokens",
    "embed_query",
    "forget",
    "forget_queries",
]

_queries = QueryCache()


@cache
def active_embedder() -> Embedder:
    """Return the embedder of the settings, one per process. Its model loads at first use."""
    model: str = settings.SCI_RAG_EMBEDDING_MODEL
    dimensions: int = settings.SCI_RAG_EMBEDDING_DIMENSIONS
    if model != MODEL:
        return HostedEmbedder(
            model=model,
            dimensions=dimensions,
            api_base=settings.SCI_RAG_EMBEDDING_API_BASE,
            api_key=settings.SCI_RAG_EMBEDDING_API_KEY,
        )
    if dimensions != DIMENSIONS:
        raise EmbeddingError(
            f"{MODEL} has {DIMENSIONS} dimensions and SCI_RAG_EMBEDDING_DIMENSIONS says {dimensions}. "
            "Remove that setting."
        )
    return MiniLM()


def embed_query(text: str) -> Vectors:
    """Return the unit vector of a question, from the cache of the last minute where it can."""
    return _queries.vector(text, embedder=active_embedder())


def forget_queries() -> None:
    """Drop the cached vectors of questions."""
    _queries.clear()


def forget() -> None:
    """Drop the embedder and the cached queries: settings changed, or a test begins."""
    active_embedder.cache_clear()
    forget_queries()
