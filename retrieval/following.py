"""Whether a replica has caught up with what a request must know of; one thread looks for all. Pure."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

# Between two looks, as long as somebody waits.
_PAUSE = 0.003
# A thread that nobody needs for so long ends, and lets go of its connection.
_IDLE = 60.0


@dataclass(frozen=True, slots=True)
class Place:
    """How far a server is in the log of changes of one system."""

    system: int
    position: int


class Follower:
    """Says of a place whether the replica has reached it, looked up after it was asked.

    A request waits `wait` seconds at most. A replica that is behind by more, cannot be asked, or failed
    somebody, is left alone for `rest` seconds: meanwhile nobody waits for it at all.
    """

    def __init__(
        self,
        look: Callable[[], Place | None],
        *,
        wait: float,
        rest: float,
        leave: Callable[[], None] = lambda: None,
    ) -> None:
        self._look = look
        self._leave = leave
        self._wait = wait
        self._rest = rest
        self._change = threading.Condition()
        self._thread: threading.Thread | None = None
        self._waiting = 0
        self._begun = self._ended = 0
        self._seen: Place | None = None
        self._resting_until = float("-inf")

    def has_reached(self, place: Place) -> bool:
        """Whether the replica holds everything up to `place`, as of a look that began after this call."""
        with self._change:
            if monotonic() < self._resting_until:
                return False
            asked = self._begun
            self._waiting += 1
            self._wake()
            try:
                answered = self._change.wait_for(lambda: self._is_settled(asked, place), self._wait)
            finally:
                self._waiting -= 1
            reached = answered and self._seen is not None and _covers(self._seen, place)
            if not reached:
                self._resting_until = monotonic() + self._rest
            return reached

    def failed(self) -> None:
        """Leave the replica alone for a while: it failed somebody who read from it."""
        with self._change:
            self._resting_until = monotonic() + self._rest

    def _is_settled(self, asked: int, place: Place) -> bool:
        return self._ended > asked and (self._seen is None or _covers(self._seen, place))

    def _wake(self) -> None:
        # After a fork the thread is not there, whatever the parent had.
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._follow, name="replica", daemon=True)
            self._thread.start()
        self._change.notify_all()

    def _follow(self) -> None:
        while self._is_wanted():
            try:
                seen = self._look()
            except Exception:  # noqa: BLE001 - whatever it is, the replica cannot be read from
                seen = None
                self._leave()
            with self._change:
                self._seen, self._ended = seen, self._begun
                self._change.notify_all()
                self._change.wait_for(lambda: not self._waiting, _PAUSE)
        self._leave()

    def _is_wanted(self) -> bool:
        """Wait until somebody waits, and begin a look; False after a long time without anybody."""
        with self._change:
            if self._change.wait_for(lambda: self._waiting > 0, _IDLE):
                self._begun += 1
                return True
            self._thread = None
            return False


def _covers(seen: Place, wanted: Place) -> bool:
    return seen.system == wanted.system and seen.position >= wanted.position
