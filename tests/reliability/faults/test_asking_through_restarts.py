"""A database that is killed while people ask: each answer is whole or says it is not, and asking goes on."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.reliability.conftest import FILES, Site, site, var  # noqa: F401 fixtures

ASKERS = 8
# Recovery of the database itself is within it, and so is a machine that has other things to do.
PATIENCE = 30.0


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("restarts", [20])
def test_people_ask_on_while_the_database_is_killed(
    site: Site,  # noqa: F811
    papers: Path,
    tmp_path: Path,
    restarts: int,
) -> None:
    run = site.ask("enqueue", str(papers))
    worker = site.start_worker()
    assert site.until(run, state="finished")["outcomes"] == {"ready": FILES}
    kills: list[float] = []
    killer = threading.Thread(target=_kill, args=(site, kills, restarts, tmp_path / "stop"))
    killer.start()

    ended = site.ask("asking", str(tmp_path / "stop"), ASKERS)

    killer.join()
    counts = Counter(how for _, how in ended)
    done = sorted(moment for moment, how in ended if how == "done stop")
    recovery = [min((moment for moment in done if moment > kill), default=1e12) - kill for kill in kills]
    print(f"{len(kills)} restarts, {len(ended)} asks {dict(counts)}; answered again after "  # noqa: T201
          f"{sorted(round(seconds, 1) for seconds in recovery)} s")  # fmt: skip
    assert len(kills) == restarts
    assert max(recovery) < PATIENCE
    assert site.ask("wrong_answers") == []
    assert site.ask("broken") == []
    assert {how.partition(" ")[0] for how in counts} <= {"done", "failed", "partial", "refused"}
    site.kill(worker)


def _kill(site: Site, kills: list[float], restarts: int, stop: Path) -> None:  # noqa: F811
    moments = random.Random(5)  # noqa: S311 - the moments are to be the same every time
    killed = 0
    try:
        for _ in range(restarts):
            killed = _ready(site, after=killed)
            time.sleep(moments.uniform(1, 5))
            # As `pg_ctl stop -m immediate`: no checkpoint, recovery at the next start.
            os.kill(killed, signal.SIGQUIT)
            kills.append(time.time())
        _ready(site, after=killed)
        time.sleep(5)
    finally:
        stop.touch()


def _ready(site: Site, *, after: int) -> int:  # noqa: F811
    """Wait until another server than `after` takes connections; return its process."""
    noted = site.folder / "postgres" / "data" / "postmaster.pid"
    deadline = time.monotonic() + 120
    while True:
        with contextlib.suppress(OSError, IndexError, ValueError):
            lines = noted.read_text().splitlines()
            if int(lines[0]) != after and lines[7].strip() == "ready":
                return int(lines[0])
        assert time.monotonic() < deadline, "the database did not come back"
        time.sleep(0.05)
