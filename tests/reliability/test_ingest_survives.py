"""Taking files in while workers and the database are killed and messages come twice."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.reliability.conftest import FILES, Site

# What one killed process leaves is tried with every test: tests/integration/corpus/test_ingestion_killed.py.
pytestmark = pytest.mark.long


@pytest.fixture
def undisturbed(site: Site, papers: Path) -> str:
    """What the corpus holds after an ingest that nothing disturbed; the corpus is empty again."""
    run = site.ask("enqueue", str(papers))
    worker = site.start_worker()
    status = site.until(run, state="finished")
    site.kill(worker)
    assert status["outcomes"] == {"ready": FILES}
    assert (status["most_attempts"], site.ask("broken")) == (1, [])
    digest = site.ask("digest")
    site.ask("empty")
    return digest


@pytest.mark.parametrize("kills", [6, 50])
def test_workers_killed_at_random_leave_nothing_half_done(
    site: Site, papers: Path, undisturbed: str, kills: int
) -> None:
    moments = random.Random(kills)  # noqa: S311 - the moments are to be the same every time
    killed = interrupted = 0
    while killed < kills:
        run = site.ask("enqueue", str(papers))
        while killed < kills and site.ask("status", run)["state"] == "running":
            worker = site.start_worker()
            _wait_for_work(site, run)
            time.sleep(moments.uniform(0, 1.2))
            site.kill(worker)
            killed += 1
            assert site.ask("broken") == []
        status = site.finish(run)
        interrupted += status["attempts"] - status["jobs"]
        assert site.ask("broken") == []
        assert site.ask("digest") == undisturbed
        site.ask("empty")
    assert interrupted > kills / 3, "the kills hit nothing"


@pytest.mark.parametrize("restarts", [2, 20])
def test_a_database_killed_in_the_middle_is_waited_for(
    site: Site, papers: Path, undisturbed: str, restarts: int
) -> None:
    moments = random.Random(restarts)  # noqa: S311 - the moments are to be the same every time
    done = 0
    while done < restarts:
        run = site.ask("enqueue", str(papers))
        worker = site.start_worker()
        _wait_for_work(site, run)
        while done < restarts and site.ask("status", run)["state"] == "running":
            time.sleep(moments.uniform(0, 1.0))
            # As `pg_ctl stop -m immediate`: no checkpoint, recovery at the next start.
            os.kill(site.postmaster(), signal.SIGQUIT)
            done += 1
            assert site.ask("broken") == []
        status = site.until(run, state="finished")
        site.kill(worker)
        assert status["outcomes"] == {"ready": FILES}
        assert site.ask("broken") == []
        assert site.ask("digest") == undisturbed
        site.ask("empty")


def test_every_message_delivered_again_and_again_has_one_effect(
    site: Site, papers: Path, undisturbed: str
) -> None:
    run = site.ask("enqueue", str(papers))
    site.ask("ring", run, 3)
    workers = [site.start_worker(), site.start_worker()]
    _wait_for_work(site, run)
    site.ask("ring", run, 2)
    status = site.until(run, state="finished")
    site.ask("ring", run, 2)
    time.sleep(2)

    assert status["outcomes"] == {"ready": FILES}
    assert (status["most_attempts"], site.ask("broken")) == (1, [])
    assert site.ask("digest") == undisturbed
    assert site.ask("status", run)["attempts"] == status["attempts"]
    for worker in workers:
        site.kill(worker)


def _wait_for_work(site: Site, run: str) -> None:
    """Wait until a worker has begun an attempt that was not there before, or the run is over."""
    before = site.ask("status", run)["attempts"]
    deadline = time.monotonic() + 120
    while (status := site.ask("status", run))["attempts"] == before and status["state"] == "running":
        assert time.monotonic() < deadline, "no worker came"
        time.sleep(0.05)
