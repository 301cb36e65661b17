"""A broker that loses three messages of ten and whose connections break all the time: all work is done."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.reliability.conftest import FILES, Site, var  # noqa: F401 a fixture
from tests.reliability.faults.proxy import FaultyBroker
from tests.reliability.test_redis import Redis, redis  # noqa: F401 a fixture

CUTS = 50


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_work_is_done_though_messages_are_lost_and_connections_break(
    redis: Redis,  # noqa: F811
    var: Path,  # noqa: F811
    papers: Path,
) -> None:
    redis.start()
    with FaultyBroker(redis.port, loses=0.3, seed=7) as broker:
        site = Site(var, CELERY_BROKER_URL=f"redis://127.0.0.1:{broker.port}/0")
        try:
            worker, rounds, started = site.start_worker(), 0, time.monotonic()
            while broker.cuts < CUTS:
                run = site.ask("enqueue", str(papers))
                while broker.cuts < CUTS and site.ask("status", run)["state"] == "running":
                    time.sleep(0.7)
                    broker.cut()
                assert site.until(run, state="finished")["outcomes"] == {"ready": FILES}
                assert site.ask("broken") == []
                site.ask("empty")
                rounds += 1
            seconds = time.monotonic() - started
            assert worker.poll() is None
        finally:
            site.close()
    print(f"{broker.cuts} cuts, {broker.lost} of {broker.lost + broker.passed} messages lost,"  # noqa: T201
          f" {rounds} runs in {seconds:.0f} s")  # fmt: skip
    assert broker.lost > 0
