"""Any embedding model that litellm can reach."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from corpus.connections import release_before_outside_call
from corpus.egress import Classes
from corpus.gateways import border
from corpus.gateways.breaker import Breaker
from corpus.gateways.embedding.protocol import EmbeddingError, Task, TextWithheld, Vectors, unit_vectors
from corpus.gateways.litellm_library import litellm
from corpus.gateways.metering import Meter
from corpus.usage import accounts
from corpus.usage.purposes import Purpose

TEXTS_PER_REQUEST = 64
CHARACTERS_PER_REQUEST = 100_000
_TIMEOUT: dict[Task, float] = {"query": 10.0, "document": 60.0}
_PURPOSES: dict[Task, Purpose] = {
    "query": Purpose.QUESTION_VECTORS,
    "document": Purpose.PASSAGE_VECTORS,
}
_PAUSE = 1.0  # seconds before the second try
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
        self._where = border.endpoint(model, api_base)
        self._breaker = Breaker("embedding")

    def __repr__(self) -> str:
        return f"HostedEmbedder({self.version})"

    @property
    def readable(self) -> Classes:
        """The licence classes whose passages may be sent to it."""
        return border.readable(self._where, _PURPOSES["document"])

    def embed(self, texts: Sequence[str], *, task: Task, carries: Classes) -> Vectors:
        """Return one row of unit length per text, in order; raise `EmbeddingError`.

        A request for documents that failed in a way that passes is sent once more; a person waits for
        a query, so that is not. Each request ends within its time, however slowly bytes drip in.
        """
        try:
            border.cross(self._where, _PURPOSES[task], carries)
        except border.Withheld:
            raise TextWithheld(f"The licence of a text keeps it from {self.model} (egress.yaml).") from None
        release_before_outside_call()
        litellm()
        parts = [self._request(some, task) for some in _requests(texts)]
        return np.concatenate(parts) if parts else np.empty((0, self.dimensions), dtype=np.float32)

    def _request(self, texts: list[str], task: Task) -> Vectors:
        rows = _in_order(self._response(texts, task), count=len(texts), source=self.model)
        return unit_vectors(rows, count=len(texts), dimensions=self.dimensions, source=self.model)

    def _response(self, texts: list[str], task: Task) -> Any:
        attempts = 1 if task == "query" else 2
        meter = Meter(self.model, _PURPOSES[task], accounts.current())
        for attempt in range(1, attempts + 1):
            if self._breaker.is_open:
                raise EmbeddingError(f"{self.model} has failed repeatedly and is left alone for a moment.")
            try:
                response = _within(_TIMEOUT[task], partial(self._call, texts, task))
            except Exception as error:  # noqa: BLE001 - litellm raises classes of a dozen libraries
                status = getattr(error, "status_code", None)
                # Without a status the time was up, and the provider may have done its work all the same.
                reached = isinstance(error, queue.Empty)
                meter.embedding_ended(None, texts=texts, failure=True, reached=reached)
                passes = status is None or status in _WORTH_ANOTHER_TRY
                if passes:
                    self._breaker.failed()
                if attempt == attempts or not passes:
                    raise EmbeddingError(self._said(error, status)) from None
                time.sleep(_PAUSE)
            else:
                self._breaker.succeeded()
                meter.embedding_ended(_prompt_tokens(response), texts=texts, failure=False, reached=True)
                return response
        raise AssertionError

    def _call(self, texts: list[str], task: Task) -> Any:
        parameter, values = _TASK_PARAMETERS.get(self.model.partition("/")[0], ("", {}))
        return litellm().embedding(
            model=self.model,
            input=texts,
            timeout=_TIMEOUT[task],
            num_retries=0,
            max_retries=0,
            encoding_format="float",
            **({parameter: values[task]} if parameter else {}),
            **self._endpoint,
        )

    def _said(self, error: Exception, status: object) -> str:
        """Describe a provider's error without its words, which may repeat the passage or the key."""
        if isinstance(error, queue.Empty):
            return f"{self.model} did not answer in time."
        kind = type(error).__name__
        detail = f"{kind}, status {status}" if isinstance(status, int) else kind
        return f"{self.model} could not be reached or refused the request ({detail})."


def _within(seconds: float, call: Callable[[], Any]) -> Any:
    """Return what `call` returns; raise what it raises, or `queue.Empty` when it takes longer."""
    outcome: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue()

    def work() -> None:
        try:
            outcome.put((call(), None))
        except BaseException as error:  # noqa: BLE001 - the thread's border: the caller raises it
            outcome.put((None, error))

    threading.Thread(target=work, name="embedding-call", daemon=True).start()
    result, error = outcome.get(timeout=seconds)
    if error is not None:
        raise error
    return result


def _requests(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for text in texts:
        full = len(batch) == TEXTS_PER_REQUEST or characters + len(text) > CHARACTERS_PER_REQUEST
        if batch and full:
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch


def _prompt_tokens(response: Any) -> int | None:
    said = getattr(getattr(response, "usage", None), "prompt_tokens", None)
    return said if type(said) is int and 0 < said < 2**31 else None


def _in_order(response: Any, *, count: int, source: str) -> list[Any]:
    try:
        rows = {int(row["index"]): row["embedding"] for row in response.data}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise EmbeddingError(f"{source} returned something that is not a list of embeddings.") from error
    if len(rows) != len(response.data) or sorted(rows) != list(range(count)):
        raise EmbeddingError(
            f"{source} returned {len(response.data)} vectors for {count} texts, or numbered them wrongly."
        )
    return [rows[number] for number in range(count)]
