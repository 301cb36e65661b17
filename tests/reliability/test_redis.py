"""Redis as the broker: it may be down when work comes, and come back."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.site.conftest import wait_until
from tests.reliability.conftest import PATIENCE, Site, var  # noqa: F401 a fixture

SERVER = shutil.which("redis-server")


class Redis:
    """A server of our own that keeps nothing."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [str(SERVER), "--port", str(self.port), "--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError("Redis did not start")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    if SERVER is None:
        pytest.skip("needs redis-server: apt-get install redis-server")
    server = Redis(tmp_path)
    yield server
    server.kill()


@pytest.mark.long
def test_work_accepted_while_redis_is_down_starts_when_it_returns(
    redis: Redis,
    var: Path,  # noqa: F811
    papers: Path,
) -> None:
    site = Site(var, CELERY_BROKER_URL=f"redis://127.0.0.1:{redis.port}/0")
    try:
        redis.start()
        worker = site.start_worker()
        first = site.ask("enqueue", str(papers))
        assert site.until(first, state="finished")["outcomes"] == {"ready": 40}

        redis.kill()
        site.ask("empty")
        started = time.monotonic()
        second = site.ask("enqueue", str(papers))
        assert time.monotonic() - started < 30
        assert site.ask("status", second)["attempts"] == 0

        redis.start()
        assert site.until(second, state="finished")["outcomes"] == {"ready": 40}
        assert site.ask("broken") == []
        assert worker.poll() is None
    finally:
        site.close()


@pytest.mark.long
def test_a_worker_of_two_that_is_killed_in_the_middle_of_a_run_loses_nothing(
    redis: Redis,
    var: Path,  # noqa: F811
    papers: Path,
) -> None:
    site = Site(var, CELERY_BROKER_URL=f"redis://127.0.0.1:{redis.port}/0")
    try:
        redis.start()
        first, second = site.start_worker(), site.start_worker()
        run = site.ask("enqueue", str(papers))
        wait_until(lambda: site.ask("status", run)["outcomes"].get("ready", 0) >= 8, PATIENCE)
        site.kill(first)
        killed_at = site.ask("status", run)["outcomes"].get("ready", 0)
        status = site.until(run, state="finished")

        assert killed_at < 40
        assert status["outcomes"] == {"ready": 40}
        assert site.ask("broken") == []
        assert second.poll() is None
    finally:
        site.close()
