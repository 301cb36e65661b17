"""How many questions one process answers at once, and how many of them are at work in it at a time.

An answer that a model writes costs the process little and holds no connection, so many may be underway.
Searching, checking and storing take the processor and the database: more of them at a time would finish
no sooner, and pages would wait behind them all.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from corpus import connections

# Above this all their texts would come more slowly than people read; more wait outside, told so at once.
MOST_AT_ONCE = 64
MOST_AT_WORK = 2
LONGEST_WAIT_SECONDS = 15.0
RETRY_AFTER_SECONDS = 5

_lock = threading.Lock()
_busy = 0
_work = threading.Semaphore(MOST_AT_WORK)


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


@contextlib.contextmanager
def at_work() -> Iterator[None]:
    """Wait for one's turn to search, check or store, though not for ever.

    Not for searches that ask a model, which take no turn. A hosted embedding is asked all the same: two
    that hang must not hold up everybody for good.
    """
    # Whoever has the turn may be waiting for just this connection.
    connections.release()
    is_my_turn = _work.acquire(timeout=LONGEST_WAIT_SECONDS)
    try:
        yield
    finally:
        if is_my_turn:
            _work.release()
