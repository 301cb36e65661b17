"""Vectors that an earlier version of the same work has already: what did not change is not embedded again."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np

from corpus.chunking import Passage
from corpus.egress import Classes
from corpus.gateways.embedding import Embedder, Vectors
from corpus.identifiers import normalise_doi
from corpus.identity import body_sha256
from corpus.models import ChunkEmbedding, EmbeddingVersion


def held_vectors(
    *, passages: Sequence[Passage], doi: str, version: EmbeddingVersion
) -> dict[str, list[float]]:
    """Return vectors of `version` by content, of passages that other documents of this work share."""
    normalised = normalise_doi(doi)
    if normalised is None:
        return {}
    rows = ChunkEmbedding.objects.filter(
        version=version,
        document__doi_normalised=normalised,
        chunk__content_sha256__in={body_sha256(passage.body) for passage in passages},
    )
    wanted = {passage.content for passage in passages}
    found = rows.order_by("id").values_list("chunk__content", "vector")
    return {content: vector for content, vector in found if content in wanted}


def vectors_of_document(*, document_id: UUID, version: EmbeddingVersion) -> dict[str, list[float]]:
    """Return vectors of `version` by content, of the passages that a document has now."""
    rows = ChunkEmbedding.objects.filter(version=version, document_id=document_id)
    return dict(rows.order_by("id").values_list("chunk__content", "vector"))


def embed(
    *, passages: Sequence[Passage], held: dict[str, list[float]], embedder: Embedder, carries: Classes
) -> Vectors:
    """Return one vector per passage, in order; only contents that are not `held` go to the embedder.

    `carries` is the licence class of the passages' document.
    """
    new = list(dict.fromkeys(passage.content for passage in passages if passage.content not in held))
    made = dict(zip(new, embedder.embed(new, task="document", carries=carries), strict=True)) if new else {}
    rows = [made[item.content] if item.content in made else held[item.content] for item in passages]
    return np.array(rows, dtype=np.float32)
