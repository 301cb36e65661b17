"""Synthetic passages in any number: words with the frequencies of a language, vectors in clusters."""

from __future__ import annotations

import hashlib

import numpy as np

from corpus.gateways.embedding import configured_embedder
from corpus.identity import rank_key
from corpus.models import Chunk, Document
from corpus.search_text import search_form
from corpus.vectors import build_index_when_large, ensure_version, store

_PER_DOCUMENT = 50
_WORDS = 200
_VOCABULARY = 30_000
_CLUSTERS = 200


def add(passages: int) -> None:
    """Add `passages` passages, every fifth document public, the others restricted."""
    if not passages:
        return
    random = np.random.default_rng(17)
    spoken = _spoken()
    words = np.array([*spoken, *(f"w{number:05d}" for number in range(_VOCABULARY - len(spoken)))])
    chances = 1 / np.arange(3, len(words) + 3)
    chances /= chances.sum()
    version = ensure_version(configured_embedder())
    centres = random.normal(size=(_CLUSTERS, version.dimensions))
    for number in range(passages // _PER_DOCUMENT):
        digest = hashlib.sha256(f"synthetic {number}".encode()).hexdigest()
        document = Document.objects.create(
            title=f"Synthetic {number}", content_sha256=digest, file_sha256=digest, file_name=f"{number}.txt",
            media_type="text/plain", parser="benchmark", chunk_count=_PER_DOCUMENT, state="ready", year=2020,
            license_class="public" if number % 5 == 0 else "restricted",
        )  # fmt: skip
        bodies = [" ".join(random.choice(words, _WORDS, p=chances)) for _ in range(_PER_DOCUMENT)]
        chunks = Chunk.objects.bulk_create(
            Chunk(
                document=document, ordinal=ordinal, body=body, content=body, token_count=_WORDS,
                content_sha256=hashlib.sha256(body.encode()).hexdigest(), rank_key=rank_key(digest, ordinal),
                search_heading=search_form(document.title), search_body=search_form(body),
            )
            for ordinal, body in enumerate(bodies)
        )  # fmt: skip
        rows = centres[random.integers(0, _CLUSTERS, _PER_DOCUMENT)]
        rows = rows + 0.7 * random.normal(size=rows.shape)
        unit = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        store(version=version, chunks=chunks, vectors=unit)
    build_index_when_large(version)


def _spoken() -> list[str]:
    """Return the words of the stored passages, the most frequent first."""
    counts: dict[str, int] = {}
    for body in Chunk.objects.order_by("id").values_list("search_body", flat=True):
        for word in body.split():
            counts[word] = counts.get(word, 0) + 1
    return sorted(counts, key=lambda word: (-counts[word], word))
