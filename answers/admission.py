"""How many questions one process answers at once, and how many of them are at work in it at a time.

An answer that a model writes costs the process little and holds no connection, so many may be underway.
Searching, checking and storing take the processor and the database: more of them at a time would finish
no sooner, and pages would wait behind them all.

The site's gate takes a place before a request is read at all, and whoever answers takes that one over.
Questions that come otherwise, as those of tools do, take theirs when they are answered.
"""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Iterator
from contextvars import ContextVar

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


class Place:
    """One of the places. It is free again when everybody who kept it has left it."""

    def __init__(self) -> None:
        self._keepers = 1

    def keep(self) -> None:
        """Hold the place as well."""
        with _lock:
            self._keepers += 1

    def leave(self) -> None:
        """Hold it no longer."""
        global _busy  # noqa: PLW0603 one number per process is what this module is for
        with _lock:
            self._keepers -= 1
            _busy -= self._keepers == 0


_taken: ContextVar[Place | None] = ContextVar("place", default=None)


def is_full() -> bool:
    """Say whether a new question would be turned away. Whose request has a place already is not new."""
    return _taken.get() is None and _busy >= MOST_AT_ONCE


def take() -> Place:
    """Take a place; raise `Full` when none is free. Whoever takes it leaves it."""
    global _busy  # noqa: PLW0603 as above
    with _lock:
        if _busy >= MOST_AT_ONCE:
            raise Full
        _busy += 1
    return Place()


@contextlib.contextmanager
def holding(place: Place) -> Iterator[None]:
    """Have the question that is answered inside, in this thread or those it starts, take `place` over."""
    token = _taken.set(place)
    try:
        yield
    finally:
        _taken.reset(token)


@contextlib.contextmanager
def admitted() -> Iterator[None]:
    """Hold a place for as long as a question is being answered; raise `Full` when none is free.

    Where the request has a place, it is that one, and it is kept however early the request ends.
    """
    place = _taken.get()
    if place is None:
        place = take()
    else:
        place.keep()
    try:
        yield
    finally:
        place.leave()


def retry_after() -> int:
    """Return after how many seconds somebody who was turned away may ask again.

    Not the same for all: those who came together would come together again.
    """
    return random.randint(RETRY_AFTER_SECONDS, 3 * RETRY_AFTER_SECONDS)  # noqa: S311 no secret


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
