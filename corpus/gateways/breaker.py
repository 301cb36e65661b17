"""A circuit breaker: a provider that keeps failing is left alone for a while."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from corpus.metrics import catalogue


class Breaker:
    """Opens after `failures` within `seconds`, and stays open that long. Safe between threads.

    `use` is what monitors call it.
    """

    def __init__(
        self,
        use: str,
        *,
        failures: int = 5,
        seconds: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._use = use
        self._seconds = seconds
        self._clock = clock
        self._times: deque[float] = deque(maxlen=failures)
        self._open_until = float("-inf")
        self._lock = threading.Lock()

    @property
    def is_open(self) -> bool:
        """Whether calls should not be made now."""
        return self._clock() < self._open_until

    def failed(self) -> None:
        """Record a failure of the provider."""
        with self._lock:
            now = self._clock()
            self._times.append(now)
            if len(self._times) == self._times.maxlen and now - self._times[0] <= self._seconds:
                self._open_until = now + self._seconds
                self._times.clear()
                catalogue.BREAKER_OPENED.count(use=self._use)
                catalogue.BREAKER_OPEN.put(time.time() + self._seconds, use=self._use)

    def succeeded(self) -> None:
        """Record that the provider answered."""
        with self._lock:
            self._times.clear()
