"""How long each stage of retrieval takes on this corpus and machine."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from statistics import quantiles
from time import monotonic
from typing import Any

from corpus.models import Document
from corpus.scope import RetrievalScope
from retrieval.request import MAX_QUESTION
from retrieval.retriever import retrieve

TOTAL = "total"
_TITLES = 50


class NothingToAsk(ValueError):
    """The scope holds no title to ask with and no question was given."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds of one stage over all requests, and how often it ended how."""

    stage: str
    requests: int
    p50: float
    p95: float
    slowest: float
    statuses: dict[str, int]

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        return asdict(self)


def measure(*, questions: Sequence[str], scope: RetrievalScope, profile: str, repeat: int) -> list[Latency]:
    """Ask `repeat` times, taking turns, and return the latency of each stage and of the whole.

    Without questions the titles in scope are asked. One request goes ahead unmeasured: it loads the model.
    """
    asked = list(questions) or _titles(scope)
    if not asked:
        raise NothingToAsk("There is nothing to ask: give --question, or a scope that holds documents.")
    retrieve(question=asked[0], scope=scope, profile=profile)
    times: dict[str, list[float]] = defaultdict(list)
    statuses: dict[str, Counter[str]] = defaultdict(Counter)
    for question in islice(cycle(asked), repeat):
        started = monotonic()
        result = retrieve(question=question, scope=scope, profile=profile)
        times[TOTAL].append((monotonic() - started) * 1000)
        statuses[TOTAL]["degraded" if result.degraded else "ok"] += 1
        for trace in result.traces:
            times[trace.stage].append(trace.milliseconds)
            statuses[trace.stage][str(trace.status)] += 1
    return [_row(stage, times[stage], statuses[stage]) for stage in (*sorted(set(times) - {TOTAL}), TOTAL)]


def _titles(scope: RetrievalScope) -> list[str]:
    titles = Document.objects.within(scope).exclude(title="").order_by("id").values_list("title", flat=True)
    return [title[:MAX_QUESTION] for title in titles[:_TITLES]]


def _row(stage: str, times: list[float], statuses: Counter[str]) -> Latency:
    cuts = quantiles(times, n=20, method="inclusive") if len(times) > 1 else times * 19
    p50, p95, slowest = (round(value, 1) for value in (cuts[9], cuts[18], max(times)))
    return Latency(stage, len(times), p50, p95, slowest, dict(sorted(statuses.items())))
