"""Trying the models: one embedding and one generation. Costs what the provider asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

from corpus.egress import NOTHING_HELD
from corpus.gateways.embedding import EmbeddingError, configured_embedder
from corpus.gateways.llm import ModelError, chat_model
from corpus.usage.purposes import Purpose
from sci_rag_site.health.findings import Finding, fail, ok

PATIENCE = 60.0


def one_embedding() -> Iterator[Finding]:
    """Embed one sentence."""
    started = monotonic()
    try:
        embedder = configured_embedder()
        rows = embedder.embed(["Does the embedding model answer?"], task="query", carries=NOTHING_HELD)
    except EmbeddingError as error:
        yield fail(
            "probe: embedding", " ".join(str(error).split()), "Correct SCI_RAG_EMBEDDING_MODEL and its key."
        )
    else:
        took = (monotonic() - started) * 1000
        yield ok("probe: embedding", f"{rows.shape[1]} dimensions from {embedder.version} in {took:.0f} ms")


def one_generation() -> Iterator[Finding]:
    """Let the answering model write one word, if there is one."""
    model = chat_model()
    if model is None:
        yield ok("probe: generation", "no model is set")
        return
    started = monotonic()
    try:
        pieces = list(
            model.stream(
                system="Answer with one word.",
                user="Say ready.",
                purpose=Purpose.PROBE,
                carries=NOTHING_HELD,
                timeout=PATIENCE,
            )
        )
    except ModelError as error:
        yield fail(
            "probe: generation",
            f"{model.name} failed: {error.code}.",
            "Check SCI_RAG_LLM_MODEL, SCI_RAG_LLM_API_BASE and SCI_RAG_LLM_API_KEY.",
        )
        return
    length = sum(len(piece) for piece in pieces if isinstance(piece, str))
    took = (monotonic() - started) * 1000
    yield ok("probe: generation", f"{length} characters from {model.name} in {took:.0f} ms")
