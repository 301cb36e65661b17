"""Searches read from a replica: through its loss, its lag and its promotion, and obey rights all the same."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.site.conftest import ROOT, wait_until
from tests.loopback.postgres_pair import Pair

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("replica")]
DOCUMENTS = 20
PATIENCE = 30.0
# What the server itself says of who read passages there; a session tells some seconds later.
READ = "SELECT idx_scan + seq_scan FROM pg_stat_user_tables WHERE relname = 'corpus_chunk'"


class Searcher:
    """A process of the site on the two servers, or on the primary alone."""

    def __init__(self, var: Path, **settings: str) -> None:
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "sci_rag_site.settings",
            "SECRET_KEY": "k" * 64,
            "SCI_RAG_VAR_DIR": str(var),
            "SCI_RAG_METRICS_TOKEN": "t" * 40,
            "SCI_RAG_LOG_LEVEL": "ERROR",
            "PYTHONPATH": str(ROOT),
            **settings,
        }
        self.environment = environment
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.reliability.searcher"],
            cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ask(self, do: str, *arguments: Any) -> Any:
        self._process.stdin.write(json.dumps({"do": do, "with": arguments}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def until_read_from(self, server: str) -> dict[str, Any]:
        """Search until the layers are put to `server`; nothing may be lost on the way."""
        deadline = time.monotonic() + PATIENCE
        while (found := self.ask("search"))["server"] != server:
            assert found["degraded"] == []
            assert time.monotonic() < deadline, f"nothing was read from the {server}"
            time.sleep(0.2)
        return found

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    # Where the account that the servers run under may enter.
    folder = Path(tempfile.mkdtemp(prefix="sci-rag-test-pair-"))
    folder.chmod(0o755)
    pair = Pair(folder / "servers")
    yield pair
    pair.close()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def alone(pair: Pair, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """The site on the primary, with a corpus."""
    environment = {
        **os.environ,
        "DATABASE_URL": pair.primary.url,
        "SECRET_KEY": "k" * 64,
        "DJANGO_SETTINGS_MODULE": "sci_rag_site.settings",
    }
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity=0"], cwd=ROOT, env=environment, check=True
    )
    searcher = Searcher(tmp_path_factory.mktemp("alone"), DATABASE_URL=pair.primary.url)
    searcher.ask("fill", DOCUMENTS)
    yield searcher
    searcher.close()


@pytest.fixture
def searcher(pair: Pair, alone: Searcher, tmp_path: Path) -> Iterator[Searcher]:
    """The site on both."""
    searcher = Searcher(
        tmp_path, DATABASE_URL=pair.primary.url, SCI_RAG_REPLICA_URL=f"{pair.replica.url}?sslmode=disable"
    )
    yield searcher
    searcher.close()


def what(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name != "server"}


def test_layers_read_from_the_replica_and_find_what_the_primary_has(
    pair: Pair, alone: Searcher, searcher: Searcher
) -> None:
    found = searcher.until_read_from("replica")

    assert what(found) == what(alone.ask("search"))
    assert len(found["found"]) == 20
    wait_until(lambda: pair.replica.rows(READ)[0][0] > 0, PATIENCE)


def test_a_right_taken_away_counts_for_the_next_search_however_far_behind_the_replica_is(
    pair: Pair, alone: Searcher, searcher: Searcher
) -> None:
    searcher.until_read_from("replica")
    pair.replica.rows("SELECT pg_wal_replay_pause()")
    try:
        alone.ask("take_away", "Straw 4")
        found = [searcher.ask("search") for _ in range(5)]
    finally:
        pair.replica.rows("SELECT pg_wal_replay_resume()")
    there = alone.ask("search")

    assert "Straw 4" not in {title for title, *_ in there["found"]}
    assert [what(one) for one in found] == [what(there)] * 5
    assert {one["server"] for one in found} == {"primary"}
    assert what(searcher.until_read_from("replica")) == what(there)

    # With the replica keeping up, the very next search obeys just as well.
    for _ in range(10):
        for do, allowed in (("give_back", True), ("take_away", False)):
            alone.ask(do, "Straw 4")
            titles = {title for title, *_ in searcher.ask("search")["found"]}
            assert ("Straw 4" in titles) is allowed


@pytest.mark.parametrize("how", ["immediate", "fast"])
def test_the_loss_of_the_replica_is_no_error_and_its_return_is_noticed(
    pair: Pair, alone: Searcher, searcher: Searcher, how: str
) -> None:
    expected = what(searcher.until_read_from("replica"))
    lose = threading.Timer(0.5, pair.replica.stop, [how])
    lose.start()
    found = searcher.ask("searches", 100)
    lose.join()
    found += searcher.ask("searches", 10)
    pair.replica.start()

    assert [one["degraded"] for one in found] == [[]] * len(found)
    assert [what(one) for one in found] == [expected] * len(found)
    assert found[0]["server"] == "replica"
    assert found[-1]["server"] == "primary"
    assert what(searcher.until_read_from("replica")) == expected


def test_a_replica_that_was_promoted_is_not_read_from_any_more(
    pair: Pair, alone: Searcher, searcher: Searcher
) -> None:
    searcher.until_read_from("replica")
    pair.replica.run("pg_ctl", "promote", "-D", str(pair.replica.data), "-w")
    pair.replica.rows("UPDATE corpus_document SET license_class = 'public'")
    time.sleep(0.2)
    found = searcher.ask("searches", 5)

    assert {one["server"] for one in found} == {"primary"}
    assert [what(one) for one in found] == [what(alone.ask("search"))] * 5
