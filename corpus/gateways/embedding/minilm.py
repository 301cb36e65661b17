"""all-MiniLM-L6-v2 on ONNX Runtime: the embedder that needs no key, no network and no torch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus.egress import Classes
from corpus.gateways.embedding.model_files import WEIGHTS
from corpus.gateways.embedding.protocol import EmbeddingError, Task, Vectors, unit_vectors
from corpus.gateways.embedding.word_pieces import tokenizer

MODEL = "all-MiniLM-L6-v2"
DIMENSIONS = 384
LEAST_DIMENSIONS = 32
WINDOW = 256  # word pieces the model reads at once, with the two that mark beginning and end
_BEGIN, _END = 101, 102
_TEXTS_AT_ONCE = 256


def windows(pieces: Sequence[int], *, size: int = WINDOW - 2) -> list[Sequence[int]]:
    """Cut `pieces` into as few windows of at most `size` as possible, of nearly equal length.

    Equal lengths because a short last window would be read with next to no context.
    """
    count = max(1, -(-len(pieces) // size))
    edges = [len(pieces) * number // count for number in range(count + 1)]
    return [pieces[start:end] for start, end in pairwise(edges)]


class MiniLM:
    """The offline model. A text longer than a window is the mean of all its windows' word pieces.

    Fewer dimensions than it has are its first ones, brought to unit length: smaller and a little coarser.
    """

    def __init__(self, dimensions: int = DIMENSIONS) -> None:
        if not LEAST_DIMENSIONS <= dimensions <= DIMENSIONS:
            raise EmbeddingError(
                f"{MODEL} has {DIMENSIONS} dimensions, of which {LEAST_DIMENSIONS} or more can be kept, and "
                f"not {dimensions}. Correct SCI_RAG_EMBEDDING_DIMENSIONS or --dimensions."
            )
        self.version = f"{MODEL}@{dimensions}"
        self.dimensions = dimensions

    def embed(self, texts: Sequence[str], *, task: Task, carries: Classes) -> Vectors:
        """Return one row of unit length per text, in order; raise `EmbeddingError`.

        Windows run one by one, on as many threads as there are cores. Measured on two cores, batches of
        padded windows are no faster and slower from 256 pieces on, and running alone makes the vector
        of a text independent of its company and the memory independent of their number.
        """
        run, workers = _model.ready()
        rows: list[NDArray[np.float64]] = []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            some = list(texts[start : start + _TEXTS_AT_ONCE])
            encodings = tokenizer().encode_batch(some, add_special_tokens=False)
            cut = [windows(encoding.ids) for encoding in encodings]
            sums = workers.map(partial(_sum_of_pieces, run), [window for parts in cut for window in parts])
            for parts in cut:
                pieces = sum(len(window) + 2 for window in parts)
                rows.append(np.sum([next(sums) for _ in parts], axis=0) / pieces)
        if not rows:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return unit_vectors(rows, count=len(texts), dimensions=self.dimensions, source=MODEL)


class _Model:
    """The model's session, one per process for every number of dimensions."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._session: Any = None
        self._workers: ThreadPoolExecutor | None = None

    def ready(self) -> tuple[Any, ThreadPoolExecutor]:
        """Load the model once, at first use: a command that embeds nothing does not wait for it."""
        with self._lock:
            if self._session is None:
                self._session = _load()
                self._workers = ThreadPoolExecutor(_cores(), thread_name_prefix="minilm")
            assert self._workers is not None  # noqa: S101 - set together with the session
            return self._session.run, self._workers


_model = _Model()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _load() -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(
            str(WEIGHTS.verified()), options, providers=["CPUExecutionProvider"]
        )
    except EmbeddingError:
        raise
    except Exception as error:
        raise EmbeddingError(f"ONNX Runtime cannot load {MODEL}: {type(error).__name__}.") from error


def _sum_of_pieces(run: Any, window: Sequence[int]) -> NDArray[np.float64]:
    ids = np.array([[_BEGIN, *window, _END]], dtype=np.int64)
    (hidden,) = run(
        None,
        {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)},
    )
    total: NDArray[np.float64] = hidden[0].sum(axis=0, dtype=np.float64)
    return total
