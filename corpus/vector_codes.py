"""What a question's vector is compared with short codes by. Pure.

The database keeps three bits for each dimension of a stored vector: in which of eight equal steps its value
lies (`corpus_vector_code`, by triggers on the embeddings). Half a standard deviation of a unit vector's
values is one step. A question keeps more: each of the three bits has a weight of eight grades. Their sum is
a weighted sum of plain bit distances, which the database counts fast. With independent values it follows
the true distance with a correlation of 0.94; comparing one code with another would reach 0.78.

A code depends on its own vector alone, so what is narrowed by codes is a function of the eligible rows.
"""

from __future__ import annotations

import numpy as np

from corpus.gateways.embedding import Vectors

BITS = 3
PLANES = 3

# How far two codes are apart, of a column `code` and the planes as its three parameters.
_APART = [f"{2**plane} * hamming_distance(code, %s::bit varying)" for plane in range(PLANES)]
APART = " + ".join(_APART).removeprefix("1 * ")


def planes(vector: Vectors) -> list[str]:
    """Return the weights of a question's vector as bit strings, the one that counts least first."""
    unit = vector.astype(np.float64) / (np.linalg.norm(vector) or 1.0)
    spread = unit * len(unit) ** 0.5
    weights = np.concatenate([2**bit * spread for bit in reversed(range(BITS))])
    grades = np.clip(np.floor(weights / 2), -(2 ** (PLANES - 1)), 2 ** (PLANES - 1) - 1)
    places = (grades + 2 ** (PLANES - 1)).astype(np.uint8)
    return [((places >> plane & 1) + ord("0")).tobytes().decode() for plane in range(PLANES)]
