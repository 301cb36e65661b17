"""How fast each host is asked, in this process: its own word counts, within bounds."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

USUAL_SECONDS = 0.2
# Longer than this nobody sleeps; the host is left alone and whoever wants it comes back later.
LONGEST_WAIT = 60.0
# No host can lock itself out for longer, whatever it asks for.
LONGEST_HOLD = 3600.0
_FASTEST, _SLOWEST = 0.02, 5.0
_SPAN = re.compile(r"([0-9]{1,6})\s*(ms|s|m|h)?")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, None: 1.0}


class HeldBack(Exception):
    """The host asked to be left alone for longer than one waits."""


class Pace:
    """Keeps a distance between requests to one host. Safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next: dict[str, float] = {}
        self._distance: dict[str, float] = {}

    def wait(self, host: str) -> float:
        """Return when it is this request's turn, and how long that took. Raises `HeldBack`."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next.get(host, now))
            if turn - now > LONGEST_WAIT:
                raise HeldBack
            self._next[host] = turn + self._distance.get(host, USUAL_SECONDS)
        if turn > now:
            time.sleep(turn - now)
        return turn - now

    def learn(self, host: str, headers: Mapping[str, str]) -> None:
        """Take the distance the host asks for with `X-Rate-Limit-Limit` and `X-Rate-Limit-Interval`."""
        limit = _SPAN.fullmatch(headers.get("x-rate-limit-limit", "").strip())
        span = _SPAN.fullmatch(headers.get("x-rate-limit-interval", "").strip())
        if limit is None or span is None or limit[2] is not None or int(limit[1]) == 0:
            return
        distance = int(span[1]) * _UNITS[span[2]] / int(limit[1])
        with self._lock:
            self._distance[host] = min(max(distance, _FASTEST), _SLOWEST)

    def hold(self, host: str, seconds: float) -> None:
        """Leave the host alone for that long."""
        until = time.monotonic() + min(seconds, LONGEST_HOLD)
        with self._lock:
            self._next[host] = max(self._next.get(host, until), until)


def retry_after(value: str | None, *, now: datetime | None = None) -> float | None:
    """Return how many seconds `Retry-After` asks to wait, given in seconds or as a date; None for neither."""
    text = (value or "").strip()
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return float(text) if len(text) < 16 else math.inf
    try:
        day = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    aware = day if day.tzinfo is not None else day.replace(tzinfo=UTC)
    return max((aware - (now or datetime.now(UTC))).total_seconds(), 0.0)
