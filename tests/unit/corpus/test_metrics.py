"""Counting across processes that come, go and are killed, and the text that monitors read."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from corpus.metrics import catalogue
from corpus.metrics.catalogue import Metric
from corpus.metrics.store import Store, total
from sci_rag_site.metrics.exposition import exposition


def numbers(folder: Path) -> dict[str, float]:
    return total(folder, catalogue.joined)


def in_a_child(work: Callable[[], None]) -> int:
    """Run `work` in a forked process that is killed right after it."""
    child = os.fork()
    if not child:
        work()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    return child


def test_numbers_of_a_process_that_was_killed_stay_counted_once(tmp_path: Path) -> None:
    for _ in range(2):
        in_a_child(lambda: Store(tmp_path).add("a", 2))
    store = Store(tmp_path)
    store.add("a", 1)

    assert [numbers(tmp_path) for _ in range(3)] == [{"a": 5.0}] * 3
    # One file is left for the living process.
    assert len(list(tmp_path.glob("[0-9]*-*"))) == 1


def test_a_forked_process_counts_in_a_file_of_its_own(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add("a", 1)
    in_a_child(lambda: store.add("a", 1))
    store.add("a", 1)

    assert numbers(tmp_path) == {"a": 3.0}


def test_a_scrape_that_was_killed_before_it_removed_what_it_added_up_counts_nothing_twice(
    tmp_path: Path,
) -> None:
    in_a_child(lambda: Store(tmp_path).add("a", 2))
    (left,) = tmp_path.glob("[0-9]*-*")
    kept = left.read_bytes()
    numbers(tmp_path)
    left.write_bytes(kept)

    assert numbers(tmp_path) == {"a": 2.0}
    assert not left.exists()


def test_until_when_a_breaker_is_open_is_the_latest_and_no_sum(tmp_path: Path) -> None:
    name = catalogue.sample(catalogue.BREAKER_OPEN.name, {"use": "answers"})
    in_a_child(lambda: Store(tmp_path).put(name, 5))
    Store(tmp_path).put(name, 3)

    assert numbers(tmp_path) == {name: 5.0}


def test_what_does_not_fit_a_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        Store(tmp_path).add("a" * 300, 1)


def test_nothing_is_counted_as_long_as_nobody_may_read_it(settings: Settings, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    settings.SCI_RAG_METRICS_TOKEN = ""

    catalogue.REPLICA_LOST.count()
    catalogue.REQUEST_SECONDS.observe(1, route="ask")

    assert list(tmp_path.iterdir()) == []


def test_a_label_that_was_not_announced_is_refused() -> None:
    with pytest.raises(ValueError, match="has the labels"):
        catalogue.LAYERS.ordered({"layer": "vector"})


def test_the_text_names_each_metric_once_with_what_it_is(settings: Settings, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    settings.SCI_RAG_METRICS_TOKEN = "x" * 32
    catalogue.REQUESTS.count(route='a"b', method="GET", status="200")
    for seconds in (0.02, 0.3, 500.0):
        catalogue.RETRIEVAL_SECONDS.observe(seconds, profile="deep")
    catalogue.BREAKER_OPEN.put(time.time() + 60, use="answers")
    catalogue.BREAKER_OPEN.put(time.time() - 60, use="judging")

    text = exposition(numbers(tmp_path / "metrics"), [(catalogue.DOCUMENTS, {"state": "ready"}, 7)])

    assert r'sci_rag_requests_total{route="a\"b",method="GET",status="200"} 1' in text
    assert "# TYPE sci_rag_retrieval_seconds histogram" in text
    buckets = [line for line in text.splitlines() if line.startswith("sci_rag_retrieval_seconds_bucket")]
    assert [int(line.rsplit(" ", 1)[1]) for line in buckets] == [1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3]
    assert buckets[-1] == 'sci_rag_retrieval_seconds_bucket{profile="deep",le="+Inf"} 3'
    assert 'sci_rag_retrieval_seconds_count{profile="deep"} 3' in text
    assert 'sci_rag_breaker_open{use="answers"} 1' in text
    assert 'sci_rag_breaker_open{use="judging"} 0' in text
    assert 'sci_rag_documents{state="ready"} 7' in text
    assert text.endswith("\n")


@pytest.mark.parametrize("metric", catalogue.ALL, ids=lambda metric: metric.name)
def test_the_longest_names_of_labels_fit_a_record(metric: Metric, tmp_path: Path) -> None:
    longest = {
        "route": "admin:evaluation_questionsignature_changelist",
        "finish": "retrieval_timeout",
    }
    labels = {name: longest.get(name, "x" * 24) for name in metric.labels}

    Store(tmp_path).add(catalogue.sample(f"{metric.name}_bucket", {**labels, "le": "120.0"}), 1)
