"""Providers of embeddings behind one protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Task = Literal["query", "document"]


class EmbeddingError(RuntimeError):
    """The provider failed or returned vectors that may not be stored."""


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def version(self) -> str:
        """`model@dimensions`: vectors of different versions are never compared."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str], *, task: Task) -> NDArray[np.float32]:
        """Return one row of unit length per text, in order; raise `EmbeddingError`."""
