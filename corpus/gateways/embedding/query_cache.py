"""A short memory of query vectors, so that asking again does not embed again."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from time import monotonic

from corpus.egress import NOTHING_HELD
from corpus.gateways.embedding.protocol import Embedder, Task, Vectors

SECONDS = 60.0
ENTRIES = 512


class QueryCache:
    """Vectors by the SHA-256 of version, task and text: the text itself is never kept."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._rows: OrderedDict[str, tuple[float, Vectors]] = OrderedDict()

    def vector(self, text: str, *, embedder: Embedder, task: Task = "query") -> Vectors:
        """Return the vector of `text`, embedding it when it is not remembered."""
        key = hashlib.sha256(f"{embedder.version}|{task}|{text}".encode("utf-8", "replace")).hexdigest()
        remembered = self._fresh(key)
        if remembered is not None:
            return remembered
        vector: Vectors = embedder.embed([text], task=task, carries=NOTHING_HELD)[0]
        vector.setflags(write=False)
        with self._lock:
            self._rows[key] = (self._clock() + SECONDS, vector)
            self._rows.move_to_end(key)
            while len(self._rows) > ENTRIES:
                self._rows.popitem(last=False)
        return vector

    def _fresh(self, key: str) -> Vectors | None:
        with self._lock:
            expires, vector = self._rows.get(key, (0.0, None))
            if vector is not None and expires <= self._clock():
                del self._rows[key]
                return None
            return vector

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._rows.clear()
