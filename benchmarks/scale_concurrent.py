"""Whole requests, many at a time, on a synthetic corpus."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, process_time, sleep

from django.db import connection

from benchmarks.scale_corpus import World
from corpus.scope import scope
from retrieval.retriever import retrieve

_AT_A_TIME = (1, 10, 50)
_GOAL_SECONDS = 1.5


def measure(world: World, requests: int) -> int:
    """Print a row for each number of askers; return how many gates were missed."""
    logging.disable(logging.CRITICAL)
    questions = [question.text for question in world.questions(requests)]
    # What answers are made from by default: everything but what was retracted.
    wanted = scope(exclude_retracted=True)

    def ask(question: str) -> tuple[float, bool]:
        started = perf_counter()
        try:
            failed = bool(retrieve(question=question, scope=wanted).degraded)
        except Exception:  # noqa: BLE001 - counted, whatever it is
            failed = True
        seconds = perf_counter() - started
        connection.close()
        return seconds, failed

    ask("What is warmed up?")
    head = "".join(f"{name:>10}" for name in ("at a time", "p50 s", "p95 s", "max s", "a second", "CPU ms"))
    print(f"\n{'requests':<10}{head}  failed")
    failures = 0
    for askers in _AT_A_TIME:
        some = questions if askers == max(_AT_A_TIME) else questions[: max(20, requests // 10)]
        used, started = _used(), perf_counter()
        with ThreadPoolExecutor(askers) as executor:
            outcomes = list(executor.map(ask, some))
        rate = len(some) / (perf_counter() - started)
        each = (_used() - used) / len(some) * 1000
        seconds = [second for second, _ in outcomes]
        failed = sum(failed for _, failed in outcomes)
        failures += failed
        p95 = quantiles(seconds, n=20, method="inclusive")[-1]
        print(
            f"{len(some):<10}{askers:>10}{median(seconds):>10.2f}{p95:>10.2f}{max(seconds):>10.2f}{rate:>10.1f}"
            f"{each:>10.1f}  {failed}",
            flush=True,
        )
    print(f"p95 at {askers} at a time, goal {_GOAL_SECONDS} s: {'met' if p95 < _GOAL_SECONDS else 'missed'}")
    return failures + _kept()


def _used() -> float:
    """Return the seconds of CPU that this process and the server's have used."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity")
        files = [Path(f"/proc/{pid}/schedstat") for (pid,) in cursor.fetchall()]
    connection.close()
    return process_time() + sum(int(file.read_text().split()[0]) for file in files if file.exists()) / 1e9


def _kept() -> int:
    """Return how many connections did not come back to the pool."""
    sleep(0.5)
    pool = connection.pool  # type: ignore[attr-defined]
    connection.close()
    stats = pool.get_stats()
    kept = int(stats["pool_size"] - stats["pool_available"] + stats.get("requests_errors", 0))
    print(f"pool: {stats['pool_size']} connections, {kept} kept or refused")
    return kept
