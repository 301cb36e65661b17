"""The vector and keyword layers on a synthetic corpus, scope by scope, each beside its naive form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median, quantiles
from time import perf_counter

import numpy as np
from django.db import connection, transaction
from numpy.typing import NDArray

from benchmarks import measures, scale_naive
from benchmarks.scale_corpus import Question, World
from benchmarks.scale_loading import Stored, stored
from corpus.models import EmbeddingVersion
from corpus.scope import RetrievalScope, scope
from corpus.vectors import active_version
from retrieval import eligibility
from retrieval.layers.base import LayerRequest, Session
from retrieval.layers.keyword import KeywordLayer
from retrieval.layers.vector import VectorLayer
from retrieval.types import RankedList

_COUNTED, _POOL = 10, 20
_WARM_UP = 5


@dataclass(frozen=True, slots=True)
class Case:
    """One scope, which passages it allows, and the questions asked under it."""

    name: str
    scope: RetrievalScope
    allowed: NDArray[np.bool_]
    questions: Sequence[Question]


@dataclass(slots=True)
class Times:
    """Milliseconds by the clock and of the server process's CPU."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def add(self, work: Callable[[], list[int]]) -> list[int]:
        cpu, wall = _cpu(), perf_counter()
        found = work()
        self.wall.append((perf_counter() - wall) * 1000)
        self.cpu.append(_cpu() - cpu)
        return found

    def __str__(self) -> str:
        p95 = quantiles(self.wall, n=20, method="inclusive")[-1]
        cpu95 = quantiles(self.cpu, n=20, method="inclusive")[-1]
        return f"{median(self.wall):>7.1f}{p95:>8.1f}{median(self.cpu):>8.1f}{cpu95:>7.1f}"


def measure(world: World, shares: Sequence[float], count: int) -> tuple[dict[str, float], int]:
    """Print a row for each scope; return medians of CPU and how many gates were missed."""
    version = active_version()
    assert version is not None
    truth = stored(world)
    print(f"\n{len(truth.vectors):,} passages in {world.documents:,} documents, {world.clusters} clusters")
    head = f"{'p50':>7}{'p95':>8}{'CPU50':>8}{'95':>7}"
    medians, missed = {}, 0
    print(f"\n{'vector':<16}{'eligible':>9} {'mode':<16}{'recall':>7}{'worst':>7}{head}")
    for case in _cases(world, truth, shares, count):
        own, failed = _vector(case, truth, version)
        medians[f"vector {case.name}"] = median(own.cpu)
        missed += failed
    print(f"\n{'keyword':<16}{'eligible':>9} {'mode':<16}{'rows':>7}{'none':>7}{head}")
    for case in _cases(world, truth, shares, count):
        medians[f"keyword {case.name}"] = median(_keyword(case).cpu)
    return medians, missed


def _cases(world: World, truth: Stored, shares: Sequence[float], count: int) -> Iterator[Case]:
    questions = world.questions(count)
    for share in shares:
        if share == 1.0:
            yield Case("100 %", scope(), np.ones(len(truth.vectors), dtype=bool), questions)
            continue
        name = f"{share:.1%}".replace(".0%", "%").replace("%", " %")
        allowed = truth.per_milles <= round(1000 * share)
        if allowed.any():
            yield Case(name, scope(year_max=round(1000 * share)), allowed, questions)
        clusters = _clusters(world, truth, share)
        if clusters:
            allowed = np.isin(truth.clusters, clusters)
            wanted = scope(journals=[f"Cluster {one}" for one in clusters])
            yield Case(f"{name} near", wanted, allowed, world.about(clusters, count))
            others = [one for one in range(world.clusters) if one not in clusters]
            yield Case(f"{name} far", wanted, allowed, world.about(others, count))


def _clusters(world: World, truth: Stored, share: float) -> list[int]:
    """Return clusters that together hold about `share` of the passages."""
    sizes = np.bincount(truth.clusters, minlength=world.clusters)
    room, chosen = share * len(truth.clusters) * 1.05, []
    for one in np.random.default_rng(20).permutation(world.clusters):
        if 0 < sizes[one] <= room:
            chosen.append(int(one))
            room -= sizes[one]
    return chosen


def _vector(case: Case, truth: Stored, version: EmbeddingVersion) -> tuple[Times, int]:
    layer, own, plain = VectorLayer(), Times(), Times()
    recalls, naive, modes, short = [], [], set(), 0
    corpus = eligibility.read(case.scope)
    eligible = corpus.eligible.passages
    wanted = min(_COUNTED, eligible)
    for number, question in enumerate([*case.questions[:_WARM_UP], *case.questions]):
        if number == _WARM_UP:
            own, plain, recalls, naive = Times(), Times(), [], []
        request = LayerRequest(question.text, case.scope, _POOL, eligible, corpus.version)
        text = str(question.vector.tolist())
        ranked: list[RankedList] = []

        def work(request: LayerRequest = request, question: Question = question) -> list[int]:
            with transaction.atomic():
                ranked.append(layer.candidates(request, question.vector, Session(60)))  # noqa: B023
            return list(ranked[-1].chunk_ids)  # noqa: B023

        found = own.add(work)
        got = plain.add(lambda text=text: scale_naive.near(text, version, case.scope, _COUNTED))  # type: ignore[misc]
        modes.add(ranked[-1].mode)
        short += len(found) < min(_POOL, eligible)
        exact = truth.nearest(question.vector, case.allowed, wanted)
        recalls.append(measures.recall(found[:_COUNTED], exact))
        naive.append(measures.recall(got, exact))
    row = f"{case.name:<16}{eligible:>9,}"
    print(f"{row} {'+'.join(sorted(modes)):<16}{mean(recalls):>7.3f}{min(recalls):>7.2f}{own}", flush=True)
    print(f"{'':<25} {'naive':<16}{mean(naive):>7.3f}{min(naive):>7.2f}{plain}", flush=True)
    return own, int(mean(recalls) < 0.99 or min(recalls) < 0.9 or short > 0)


def _keyword(case: Case) -> Times:
    layer, own, plain = KeywordLayer(), Times(), Times()
    rows, plain_rows, modes = [], [], set()
    eligible = eligibility.read(case.scope).eligible.passages
    for number, question in enumerate([*case.questions[:_WARM_UP], *case.questions]):
        if number == _WARM_UP:
            own, plain, rows, plain_rows = Times(), Times(), [], []
        request = LayerRequest(question.text, case.scope, _POOL, eligible, None)
        prepared = layer.prepare(request)

        def work(request: LayerRequest = request, prepared: object = prepared) -> list[int]:
            with transaction.atomic():
                ranked = layer.candidates(request, prepared, Session(60))  # type: ignore[arg-type]
            modes.add(ranked.mode)
            return list(ranked.chunk_ids)

        rows.append(len(own.add(work)))
        plain_rows.append(
            len(plain.add(lambda text=question.text: scale_naive.words(text, case.scope, _POOL)))  # type: ignore[misc]
        )
    nothing, plain_nothing = (mean(not count for count in counts) for counts in (rows, plain_rows))
    row = f"{case.name:<16}{eligible:>9,}"
    mode = "+".join(sorted(modes)).replace("bm25-", "")
    print(f"{row} {mode:<16}{mean(rows):>7.1f}{nothing:>7.0%}{own}", flush=True)
    print(f"{'':<25} {'naive':<16}{mean(plain_rows):>7.1f}{plain_nothing:>7.0%}{plain}", flush=True)
    return own


def _cpu() -> float:
    """Return the milliseconds of CPU that the server's process for this connection has used."""
    connection.ensure_connection()
    pid = connection.connection.info.backend_pid
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e6
