"""Run layers side by side; what fails in one of them becomes a trace and never an exception."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass
from time import monotonic
from typing import Any

import structlog
from django.db import connections, transaction
from django.db.utils import OperationalError
from psycopg.errors import QueryCanceled
from psycopg_pool import PoolTimeout

from corpus.gateways.embedding import EmbeddingError
from corpus.gateways.llm import ModelError
from corpus.metrics.spans import span
from retrieval import replica
from retrieval.layers.base import Layer, LayerOff, LayerRequest, LayerTimeout, Session
from retrieval.turns import Turns
from retrieval.types import RankedList, StageStatus, StageTrace

# Layers at work in the database at once in this process. Fewer than the pool has connections: requests
# need theirs too.
SLOTS = 8
# Layers at work at all. Those that wait for a model hold no slot, so that they hold up nobody's search.
_THREADS = 32
# What a layer may take beyond its time before it is no longer waited for: the server cancels at the
# deadline, so this passes only when the connection itself hangs.
_GRACE = 2.0
_LOOK_AGAIN = 0.25

logger = structlog.get_logger(__name__)
_executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="retrieval")
turns = Turns(SLOTS)


@dataclass(slots=True)
class _Run:
    """One layer at work. Its clock starts with its database work: waiting for a slot is not its fault."""

    layer: Layer
    request: LayerRequest
    seconds: float
    arrival: int
    server: str
    until: float | None = None

    def __call__(self) -> tuple[RankedList, StageTrace]:
        with span("layer", layer=self.layer.name) as measured:
            ranked, trace = self._traced()
            measured.set_attributes({"status": trace.status, "candidates": trace.candidates})
        return ranked, trace

    def _traced(self) -> tuple[RankedList, StageTrace]:
        started = monotonic()
        try:
            ranked = self._work()
        except LayerOff as off:
            return RankedList(self.layer.name), self._trace(off.status, started, reason=str(off))
        except Exception as error:  # noqa: BLE001 - the border where a failure becomes a trace
            return RankedList(self.layer.name), self._failed(error, started)
        status = StageStatus.OK if ranked.chunk_ids else StageStatus.EMPTY
        return ranked, self._trace(status, started, candidates=len(ranked.chunk_ids), mode=ranked.mode)

    def _work(self) -> RankedList:
        prepared = self.layer.prepare(self.request)
        with turns.taken(self.arrival):
            return replica.read(self.server, lambda server: self._read(server, prepared))

    def _read(self, server: str, prepared: Any) -> RankedList:
        connection = connections[server]
        try:
            connection.ensure_connection()
            self.until = monotonic() + self.seconds
            with transaction.atomic(using=server):
                return self.layer.candidates(self.request, prepared, Session(self.seconds, server=server))
        finally:
            connection.close()

    def _failed(self, error: Exception, started: float) -> StageTrace:
        status, reason = _reason(error)
        # The error's own text stays out of the log: PostgreSQL quotes values, and so the question.
        logger.warning("retrieval.layer_failed", layer=self.layer.name, error=type(error).__name__)
        return self._trace(status, started, reason=reason)

    def _trace(self, status: StageStatus, started: float, **details: Any) -> StageTrace:
        milliseconds = round((monotonic() - started) * 1000, 1)
        return StageTrace(self.layer.name, status, milliseconds, eligible=self.request.passages, **details)


def _reason(error: Exception) -> tuple[StageStatus, str]:
    if isinstance(error, LayerTimeout) or isinstance(error.__cause__, QueryCanceled):
        return StageStatus.TIMEOUT, "took longer than the profile allows"
    if isinstance(error, EmbeddingError | ModelError):
        return StageStatus.ERROR, str(error)
    if isinstance(error, PoolTimeout):
        return StageStatus.ERROR, "no database connection was free"
    if isinstance(error, OperationalError):
        return StageStatus.ERROR, "the database connection failed"
    return StageStatus.ERROR, type(error).__name__


def run(
    layers: Sequence[Layer],
    requests: Mapping[str, LayerRequest],
    *,
    seconds: float,
    arrival: int | None = None,
    server: str = replica.PRIMARY,
) -> list[tuple[RankedList, StageTrace]]:
    """Run `layers` in parallel, each with its own connection, and return their lists in the given order.

    Call it without holding a connection: the layers of other requests may be waiting for it. `arrival`
    is the request's place among others, its own from now on when it has none. `server` is the database
    that is read from.
    """
    arrival = turns.arrive() if arrival is None else arrival
    runs = [_Run(layer, requests[layer.name], seconds, arrival, server) for layer in layers]
    # Each in a copy of the context, so that what it asks a model is charged to whoever searches.
    waiting: dict[Future[tuple[RankedList, StageTrace]], _Run] = {
        _executor.submit(copy_context().run, one): one for one in runs
    }
    futures = list(waiting)
    while waiting:
        finished, _ = wait(waiting, timeout=_LOOK_AGAIN, return_when="FIRST_COMPLETED")
        overdue = {
            future
            for future, one in waiting.items()
            if one.until is not None and monotonic() > one.until + _GRACE
        }
        for future in finished | overdue:
            waiting.pop(future)
    return [
        future.result() if future.done() else _abandoned(one)
        for future, one in zip(futures, runs, strict=True)
    ]


def _abandoned(one: _Run) -> tuple[RankedList, StageTrace]:
    logger.warning("retrieval.layer_abandoned", layer=one.layer.name)
    trace = StageTrace(
        one.layer.name,
        StageStatus.TIMEOUT,
        round((one.seconds + _GRACE) * 1000, 1),
        reason="the database did not answer",
        eligible=one.request.passages,
    )
    return RankedList(one.layer.name), trace
