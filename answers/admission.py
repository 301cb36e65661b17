"""How many questions one process answers at once. More wait outside, told so at once."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

# Above this the database's pool, not the answerer, would be what people wait for.
MOST_AT_ONCE = 12
RETRY_AFTER_SECONDS = 5

_lock = threading.Lock()
_busy = 0


def is_full() -> bool:
    """Say whether a new question has to be turned away."""
    return _busy >= MOST_AT_ONCE


@contextlib.contextmanager
def counted() -> Iterator[None]:
    """Count a question for as long as it is being answered."""
    _count(+1)
    try:
        yield
    finally:
        _count(-1)


def _count(change: int) -> None:
    global _busy  # noqa: PLW0603 one number per process is what this module is for
    with _lock:
        _busy += change
