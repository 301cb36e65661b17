"""Small corpora with real vectors for the tests of retrieval."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from corpus.egress import NOTHING_HELD
from corpus.gateways.embedding import Vectors, configured_embedder
from corpus.identity import body_sha256, rank_key
from corpus.models import Chunk, Document, EmbeddingVersion
from corpus.search_text import search_form
from corpus.vectors import ensure_version, store
from tests.factories.corpus import ChunkFactory, DocumentFactory

_known: dict[str, Vectors] = {}


def vector_of(text: str) -> Vectors:
    """Return the offline model's vector of `text`, computed once a session."""
    if text not in _known:
        _known[text] = configured_embedder().embed([text], task="document", carries=NOTHING_HELD)[0]
    return _known[text]


def add(
    name: str, bodies: Sequence[str], *, heading: str = "", language: str = "en", **fields: Any
) -> Document:
    """Store a ready document whose passages are `bodies`, as ingestion would."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    document = DocumentFactory(
        title=name, content_sha256=digest, chunk_count=len(bodies), language=language, **fields
    )
    chunks = [
        ChunkFactory(
            document=document,
            ordinal=ordinal,
            body=body,
            content=body,
            content_sha256=body_sha256(body),
            rank_key=rank_key(digest, ordinal),
            language=language,
            search_heading=search_form(heading),
            search_body=search_form(body),
        )
        for ordinal, body in enumerate(bodies)
    ]
    store(
        version=ensure_version(configured_embedder()),
        chunks=chunks,
        vectors=np.stack([vector_of(body) for body in bodies]),
    )
    return document


def add_vectors(vectors: Vectors, **fields: Any) -> tuple[EmbeddingVersion, list[Chunk]]:
    """Store one document whose passages have `vectors`, written in bulk."""
    version = ensure_version(configured_embedder())
    document = DocumentFactory(chunk_count=len(vectors), **fields)
    chunks = Chunk.objects.bulk_create(
        ChunkFactory.build_batch(len(vectors), document=document), batch_size=1000
    )
    store(version=version, chunks=chunks, vectors=vectors)
    return version, chunks
