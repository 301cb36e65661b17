"""A bounded number of places for work in the database, given to whoever has waited longest overall.

A request works in several stages. Were each stage a queue of its own, or a semaphore that the quickest
thread gets, some of many requests would wait at every stage and others at none. Pure.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from threading import Event, Lock

# Who waited so long goes ahead: those who hold the places may be stuck, and the pool is bounded too.
_PATIENCE = 20.0


class Turns:
    """Places that requests take in the order of their arrival, whatever stage they are at."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._lock = Lock()
        self._waiting: list[tuple[int, int, Event]] = []
        self._arrivals = count()
        self._entries = count()

    def arrive(self) -> int:
        """Return the number by which a request is served."""
        return next(self._arrivals)

    @contextmanager
    def taken(self, arrival: int, *, patience: float = _PATIENCE) -> Iterator[None]:
        """Hold a place; wait for it behind those that arrived before."""
        place = Event()
        with self._lock:
            heapq.heappush(self._waiting, (arrival, next(self._entries), place))
            self._serve()
        given = place.wait(patience)
        if not given:
            given = self._leave(place)
        try:
            yield
        finally:
            if given:
                with self._lock:
                    self._free += 1
                    self._serve()

    def _serve(self) -> None:
        while self._free and self._waiting:
            self._free -= 1
            heapq.heappop(self._waiting)[2].set()

    def _leave(self, place: Event) -> bool:
        """Stop waiting; return whether the place came at the last moment after all."""
        with self._lock:
            if place.is_set():
                return True
            self._waiting = [entry for entry in self._waiting if entry[2] is not place]
            heapq.heapify(self._waiting)
            return False
