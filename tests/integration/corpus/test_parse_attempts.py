"""A file whose reader, or whose worker, is killed is tried exactly twice, and then named."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings as site
from django.db import connection

from corpus import enqueueing, pipeline
from corpus.actions import runs
from corpus.inputs import from_paths
from corpus.jobs import Kind
from corpus.models import IngestionRun, Job
from corpus.parsing import sandbox
from tests.integration.corpus.ingesting import paper, write

pytestmark = pytest.mark.django_db(transaction=True)

WORKER = """
import sys
from django.conf import settings
settings.DATABASES["default"]["NAME"] = sys.argv[1]
settings.MEDIA_ROOT = sys.argv[2]
import django
django.setup()
from corpus import pipeline
from corpus.parsing import sandbox
# Reading never ends: the file does not matter, only that the worker dies in the middle of it.
sandbox.Child._receive = lambda *_: __import__("time").sleep(60)
pipeline.work(kind="parse")
"""


@pytest.fixture
def run(tmp_path: Path, settings) -> IngestionRun:
    settings.MEDIA_ROOT = tmp_path / "media"
    return enqueueing.enqueue(from_paths([write(tmp_path, "a.md", paper("90 days"))]), by=None)


def work_off() -> None:
    while any(pipeline.work(kind=kind) for kind in Kind):
        pass


@contextmanager
def readers_killed(killed: list[int]) -> Iterator[None]:
    """Kill every reader that this process starts, as the kernel does when memory is short."""
    sandbox.close_idle()
    over = threading.Event()

    def kill() -> None:
        while not over.is_set():
            for pid in _readers():
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
            time.sleep(0.002)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _readers() -> Iterator[int]:
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    for pid in {int(pid) for path in children for pid in path.read_text().split()}:
        try:
            if b"corpus.parsing.child" in Path(f"/proc/{pid}/cmdline").read_bytes():
                yield pid
        except OSError:
            continue


def test_a_reader_that_is_killed_is_tried_exactly_twice_and_then_named(run: IngestionRun) -> None:
    killed: list[int] = []
    with readers_killed(killed):
        work_off()

    job, item = Job.objects.get(kind=Kind.PARSE), run.items.get()
    assert (job.state, job.attempt, len(set(killed))) == ("poisoned", 2, 2)
    assert (item.outcome, item.reason) == ("failed", "reader_killed")
    assert "killed from outside, twice" in item.detail

    assert runs.retry(run=run, by=None) == 1
    work_off()
    assert run.items.get().outcome == "ready"


@pytest.mark.long
def test_a_worker_that_is_killed_while_it_reads_is_tried_exactly_twice(run: IngestionRun, settings) -> None:
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings", "PYTHONPATH": str(site.BASE_DIR)}
    command = [sys.executable, "-c", WORKER, connection.settings_dict["NAME"], str(settings.MEDIA_ROOT)]
    attempts = []
    while Job.objects.filter(kind=Kind.PARSE, state="queued").exists():
        worker = subprocess.Popen(command, env=environment, start_new_session=True)
        deadline = time.monotonic() + 60
        while not Job.objects.filter(state="running").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        attempts.append(Job.objects.get(kind=Kind.PARSE).attempt)
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
        assert pipeline.reclaim() == 1

    job, item = Job.objects.get(kind=Kind.PARSE), run.items.get()
    assert (attempts, job.state, job.attempt) == ([1, 2], "poisoned", 2)
    assert (item.outcome, item.reason) == ("failed", "worker_lost")
