"""Hypothetical passages: search with what an answer would read like instead of with the question.

The model's passage is a probe. It is embedded as a document and dropped: never shown, cited, stored,
cached or logged. (Gao et al. 2023, "Precise Zero-Shot Dense Retrieval without Relevance Labels".)
"""

from __future__ import annotations

from dataclasses import replace

from corpus.egress import NOTHING_HELD
from corpus.gateways import embedding
from corpus.gateways.embedding import EmbeddingError, Vectors
from corpus.gateways.llm import complete, fast_model
from corpus.normalise import visible
from corpus.prompt_files import prompt_file
from corpus.usage.purposes import Purpose
from retrieval.layers.base import LayerOff, LayerRequest, Session
from retrieval.layers.vector import VectorLayer
from retrieval.types import RankedList, StageStatus

MODEL_SECONDS = 20.0
_LONGEST_PROBE = 2_000


class HydeLayer:
    """Ranks eligible passages by their distance to a passage that a model made up."""

    name = "hyde"

    def __init__(self) -> None:
        self._near = VectorLayer()

    def prepare(self, request: LayerRequest) -> Vectors | None:
        """Return the probe's vector in the version this request is pinned to; raise `ModelError`."""
        if request.version is None:
            return None
        model = fast_model()
        if model is None:
            raise LayerOff(StageStatus.DISABLED, "no language model is configured")
        system, user = prompt_file("hyde").fill(
            {"style": request.style, "question": visible(request.question)}
        )
        text, _ = complete(
            model,
            system=system,
            user=user,
            purpose=Purpose.HYDE,
            carries=NOTHING_HELD,
            timeout=MODEL_SECONDS,
        )
        probe = visible(text)[:_LONGEST_PROBE].strip()
        if not probe:
            raise EmbeddingError("the model wrote no passage")
        embedder = embedding.embedder_of(request.version.name)
        vector: Vectors = embedder.embed([probe], task="document", carries=NOTHING_HELD)[0]
        return vector

    def candidates(self, request: LayerRequest, prepared: Vectors | None, session: Session) -> RankedList:
        """Return the eligible passages nearest to the probe."""
        return replace(self._near.candidates(request, prepared, session), layer=self.name)
