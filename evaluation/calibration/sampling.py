"""Which answers are labelled: drawn by a seed, so that nobody picks them. Pure."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
SIZE = 40
SEED = 1


def draw(population: Sequence[T], *, size: int, seed: int) -> list[T]:
    """Return `size` of `population` in a drawn order, all of it when it is smaller; the same each time."""
    generator = random.Random(seed)  # noqa: S311 - to draw, not to keep a secret
    return generator.sample(population, min(size, len(population)))
