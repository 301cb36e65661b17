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


class Full(RuntimeError):
    """As many questions are being answered as this process answers at once."""


def is_full() -> bool:
    """Say whether a new question would be turned away."""
    return _busy >= MOST_AT_ONCE


@contextlib.contextmanager
def admitted() -> Iterator[None]:
    """Hold a place for as long as a question is being answered; raise `Full` when none is free."""
    global _busy  # noqa: PLW0603 one number per process is what this module is for
    with _lock:
        if is_full():
            raise Full
        _busy += 1
    try:
        yield
    finally:
        with _lock:
            _busy -= 1
