"""Every number that the site says of itself, by name. None of them holds a word that somebody wrote.

Labels come from closed lists: names of routes, layers, states, purposes. Nothing is counted as long as nobody
may read it (`SCI_RAG_METRICS_TOKEN`).
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

import structlog
from django.conf import settings

from corpus.metrics.store import Joined, Store

logger = structlog.get_logger(__name__)

Kind = Literal["counter", "gauge", "histogram"]
BOUNDS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
BUCKETS: Final = (*map(str, BOUNDS), "+Inf")


@dataclass(frozen=True, slots=True)
class Metric:
    """A number, or one for each combination of its labels."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()

    def count(self, by: float = 1.0, **labels: str) -> None:
        """Add to it."""
        if (store := _store()) is not None:
            _safely(store.add, sample(self.name, self.ordered(labels)), by)

    def put(self, value: float, **labels: str) -> None:
        """Set it, for this process."""
        if (store := _store()) is not None:
            _safely(store.put, sample(self.name, self.ordered(labels)), value)

    def observe(self, seconds: float, **labels: str) -> None:
        """Enter a duration."""
        store = _store()
        if store is None:
            return
        named = self.ordered(labels)
        bound = next((str(bound) for bound in BOUNDS if seconds <= bound), "+Inf")
        _safely(store.add, sample(f"{self.name}_bucket", {**named, "le": bound}), 1.0)
        _safely(store.add, sample(f"{self.name}_sum", named), seconds)
        _safely(store.add, sample(f"{self.name}_count", named), 1.0)

    def ordered(self, labels: dict[str, str]) -> dict[str, str]:
        """Return its labels in order; a missing or foreign one is a programming error."""
        if set(labels) != set(self.labels):
            raise ValueError(f"{self.name} has the labels {self.labels}, not {tuple(labels)}")
        return {name: labels[name] for name in self.labels}


REQUESTS: Final = Metric(
    "sci_rag_requests_total", "counter", "Requests answered", ("route", "method", "status")
)
REQUEST_SECONDS: Final = Metric(
    "sci_rag_request_seconds", "histogram", "From the request to the end of its response", ("route",)
)
ANSWERS: Final = Metric(
    "sci_rag_answers_total", "counter", "Answers that ended", ("engine", "state", "finish")
)
ANSWER_SECONDS: Final = Metric(
    "sci_rag_answer_seconds", "histogram", "From the question to the whole answer", ("engine",)
)
RETRIEVAL_SECONDS: Final = Metric(
    "sci_rag_retrieval_seconds", "histogram", "From the question to the passages", ("profile",)
)
LAYERS: Final = Metric("sci_rag_layers_total", "counter", "How retrieval's stages ended", ("layer", "status"))
READS: Final = Metric(
    "sci_rag_retrieval_reads_total", "counter", "Searches by the server they were put to", ("server",)
)
REPLICA_LOST: Final = Metric(
    "sci_rag_replica_lost_total", "counter", "Layers that lost the replica and went on with the primary"
)
BREAKER_OPENED: Final = Metric(
    "sci_rag_breaker_opened_total", "counter", "Times that a failing provider was left alone", ("use",)
)
BREAKER_OPEN: Final = Metric(
    "sci_rag_breaker_open", "gauge", "1 while a provider is left alone by some process", ("use",)
)
# Read from the database when somebody asks.
DATABASE_UP: Final = Metric("sci_rag_database_up", "gauge", "1 when the database answers")
JOBS: Final = Metric("sci_rag_jobs", "gauge", "Jobs of the queue that are not done", ("kind", "state"))
OLDEST_JOB: Final = Metric("sci_rag_oldest_job_seconds", "gauge", "How long the oldest queued job has waited")
LEASES: Final = Metric("sci_rag_leases", "gauge", "Jobs that workers hold, by their lease", ("state",))
DOCUMENTS: Final = Metric("sci_rag_documents", "gauge", "Documents by state", ("state",))
MODEL_CALLS: Final = Metric(
    "sci_rag_model_calls_total",
    "counter",
    "Requests to models elsewhere, from the ledger",
    ("purpose",),
)
MODEL_FAILURES: Final = Metric("sci_rag_model_failures_total", "counter", "Those that failed", ("purpose",))
MODEL_TOKENS: Final = Metric(
    "sci_rag_model_tokens_total", "counter", "Tokens they took", ("purpose", "direction")
)
BACKUP_AGE: Final = Metric(
    "sci_rag_backup_age_seconds", "gauge", "Since the last backup that ended well; missing without one"
)
WORKER_SILENT: Final = Metric(
    "sci_rag_worker_silent_seconds", "gauge", "Since schedule and worker last did something"
)
DISK_FREE: Final = Metric("sci_rag_disk_free_bytes", "gauge", "Room where everything is kept")

ALL: Final = tuple(each for each in list(globals().values()) if isinstance(each, Metric))


def sample(name: str, labels: dict[str, str]) -> str:
    """Return a name with its labels, as monitors write it."""
    if not labels:
        return name
    pairs = ",".join(f'{key}="{_escaped(value)}"' for key, value in labels.items())
    return f"{name}{{{pairs}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def joined(name: str) -> Joined:
    """Return how numbers of several processes come together: counts add up, of times the latest counts."""
    return max if name.startswith(BREAKER_OPEN.name + "{") else operator.add


def folder() -> Path:
    """Return where the processes count."""
    return Path(settings.VAR_DIR) / "metrics"


def _store() -> Store | None:
    return _store_in(folder()) if settings.SCI_RAG_METRICS_TOKEN else None


@cache
def _store_in(place: Path) -> Store:
    return Store(place)


def _safely(write: object, name: str, value: float) -> None:
    """Count; a disk that is full costs a number and nothing else."""
    try:
        write(name, value)  # type: ignore[operator]
    except OSError as error:
        logger.warning("metrics.not_counted", error=type(error).__name__)
