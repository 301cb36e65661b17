"""What every provider of embeddings promises, and the checks that hold it to that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from corpus.egress import Classes

Task = Literal["query", "document"]
Vectors = NDArray[np.float32]


class EmbeddingError(RuntimeError):
    """The provider failed or returned vectors that may not be stored."""


class TextWithheld(EmbeddingError):
    """The licence class of a text keeps it from the provider. Nothing was sent."""


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def version(self) -> str:
        """`model@dimensions`: vectors of different versions are never compared."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str], *, task: Task, carries: Classes) -> Vectors:
        """Return one row of unit length per text, in order; raise `EmbeddingError`.

        `carries` are the licence classes of the documents that `texts` are from.
        """


def unit_vectors(rows: Any, *, count: int, dimensions: int, source: str) -> Vectors:
    """Return `rows` cut to `dimensions` and brought to unit length.

    Wider rows are Matryoshka embeddings, whose first dimensions are an embedding of their own. Anything
    that cannot be ranked (a missing or narrow row, NaN, infinity, a zero vector) raises `EmbeddingError`:
    PostgreSQL would refuse some of it and rank the rest last without a word.
    """
    try:
        matrix = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise EmbeddingError(f"{source} returned rows that are not equally long lists of numbers.") from None
    if matrix.ndim != 2 or len(matrix) != count:
        returned = len(matrix) if matrix.ndim else 0
        raise EmbeddingError(f"{source} returned {returned} vectors for {count} texts.")
    if matrix.shape[1] < dimensions:
        raise EmbeddingError(
            f"{source} returned {matrix.shape[1]} dimensions where {dimensions} are configured. "
            f"Set SCI_RAG_EMBEDDING_DIMENSIONS={matrix.shape[1]} or choose another model."
        )
    matrix = matrix[:, :dimensions]
    if not np.isfinite(matrix).all():
        raise EmbeddingError(f"{source} returned a vector with a value that is not a finite number.")
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths < 1e-12).any():
        raise EmbeddingError(f"{source} returned a vector without direction.")
    unit: Vectors = (matrix / lengths).astype(np.float32)
    return unit
