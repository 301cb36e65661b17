"""Any embedding model that litellm can reach."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from corpus.gateways.embedding.protocol import EmbeddingError, Task, Vectors, unit_vectors

_TEXTS_PER_REQUEST = 64
_CHARACTERS_PER_REQUEST = 100_000
_TIMEOUT: dict[Task, float] = {"query": 10.0, "document": 60.0}
_PAUSE_BEFORE_RETRY = 1.0
_WORTH_ANOTHER_TRY = frozenset({408, 409, 429, 500, 502, 503, 504, 529})

# How each provider names what a text is for; providers that are not listed make no difference.
_TASK_PARAMETERS: dict[str, tuple[str, dict[Task, str]]] = {
    "cohere": ("input_type", {"query": "search_query", "document": "search_document"}),
    "voyage": ("input_type", {"query": "query", "document": "document"}),
    "nvidia_nim": ("input_type", {"query": "query", "document": "passage"}),
    "jina_ai": ("task", {"query": "retrieval.query", "document": "retrieval.passage"}),
    "gemini": ("task_type", {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}),
    "vertex_ai": ("task_type", {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}),
}


class HostedEmbedder:
    """A model behind litellm, its vectors cut to the configured dimensions."""

    def __init__(self, *, model: str, dimensions: int, api_base: str = "", api_key: str = "") -> None:
        self.model = model
        self.dimensions = dimensions
        self.version = f"{model}@{dimensions}"
        self._endpoint = {
            name: value for name, value in (("api_base", api_base), ("api_key", api_key)) if value
        }

    def embed(self, texts: Sequence[str], *, task: Task) -> Vectors:
        """Return one row of unit length per text, in order; raise `EmbeddingError`.

        A request for documents that failed in a way that passes is sent once more; a person waits for
        a query, so that is not.
        """
        parts = [self._request(some, task) for some in _requests(texts)]
        return np.concatenate(parts) if parts else np.empty((0, self.dimensions), dtype=np.float32)

    def _request(self, texts: list[str], task: Task) -> Vectors:
        try:
            response = self._call(texts, task)
        except Exception as error:
            if task == "query" or not _passes(error):
                raise self._failure(error) from error
            time.sleep(_PAUSE_BEFORE_RETRY)
            try:
                response = self._call(texts, task)
            except Exception as again:
                raise self._failure(again) from again
        return unit_vectors(
            _in_order(response, count=len(texts), source=self.model),
            count=len(texts),
            dimensions=self.dimensions,
            source=self.model,
        )

    def _call(self, texts: list[str], task: Task) -> Any:
        parameter, values = _TASK_PARAMETERS.get(self.model.partition("/")[0], ("", {}))
        return _litellm().embedding(
            model=self.model,
            input=texts,
            timeout=_TIMEOUT[task],
            num_retries=0,
            max_retries=0,
            encoding_format="float",
            drop_params=True,
            **({parameter: values[task]} if parameter else {}),
            **self._endpoint,
        )

    def _failure(self, error: Exception) -> EmbeddingError:
        """Describe a provider's error without its text, which may repeat the passage or the key."""
        status = getattr(error, "status_code", None)
        said = f"{type(error).__name__}, status {status}" if status else type(error).__name__
        return EmbeddingError(f"{self.model} could not be reached or refused the request ({said}).")


@cache
def _litellm() -> Any:
    # Read at import: without it litellm fetches a price list from the network.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.suppress_debug_info = True
    return litellm


def _requests(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for text in texts:
        full = len(batch) == _TEXTS_PER_REQUEST or characters + len(text) > _CHARACTERS_PER_REQUEST
        if batch and full:
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch


def _passes(error: Exception) -> bool:
    status = getattr(error, "status_code", None)
    return status is None or status in _WORTH_ANOTHER_TRY


def _in_order(response: Any, *, count: int, source: str) -> list[Any]:
    try:
        rows = {int(row["index"]): row["embedding"] for row in response.data}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise EmbeddingError(f"{source} returned something that is not a list of embeddings.") from error
    if len(rows) != len(response.data) or sorted(rows) != list(range(count)):
        raise EmbeddingError(
            f"{source} returned {len(response.data)} vectors for {count} texts, or misnumbered."
        )
    return [rows[number] for number in range(count)]
