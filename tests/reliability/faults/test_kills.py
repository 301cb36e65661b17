"""Workers and commands killed in the middle of their work: nothing half done, nothing lost, nothing twice.

Children of one process that has everything loaded are killed, a few in every run and a thousand when it may
take long: while files are read, embedded and stored, while the graph is extracted, while entities are
merged, and while passages get vectors of another version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

import pytest
from django.db import connection, connections

from corpus import enqueueing
from corpus.actions import runs
from corpus.inputs import from_manifest
from corpus.models import IngestionItem, IngestionRun
from retrieval.graph import queries
from retrieval.graph.extraction import background
from retrieval.models import ExtractionRun
from tests.loopback.openai_server import OpenAIServer
from tests.reliability import invariants
from tests.reliability.faults import flows
from tests.reliability.faults.conftest import OTHER, graph
from tests.reliability.faults.forking import Forks, Killer
from tests.reliability.faults.world import World

pytestmark = pytest.mark.xdist_group("use-ledger")

SHARES = {"ingest": 400, "extract": 200, "merge": 200, "re-embed": 200}
# Files being taken in and vectors being made are killed in every run by tests of their own, beside these.
SAMPLE = {"merge": 20}


@pytest.fixture
def forks(transactional_db: None, provider: OpenAIServer, tmp_path: Path, work: str) -> Iterator[Forks]:
    forks = Forks(
        database=connection.settings_dict["NAME"],
        media=tmp_path / "media",
        embeds=work in {"ingest", "re-embed"},
    )
    yield forks
    forks.close()


@pytest.mark.long
@pytest.mark.parametrize("work", SAMPLE)
def test_what_is_killed_here_and_there_is_whole_and_goes_on(forks: Forks, tmp_path: Path, work: str) -> None:
    _killed(forks, tmp_path, work, kills=SAMPLE[work])


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("work", SHARES)
def test_whatever_is_killed_is_whole_and_goes_on(forks: Forks, tmp_path: Path, work: str) -> None:
    _killed(forks, tmp_path, work, kills=SHARES[work])


def _killed(forks: Forks, tmp_path: Path, work: str, *, kills: int) -> None:
    arguments = PREPARED[work](flows.write_corpus(tmp_path / "in"))
    world = World(tmp_path / "media", tmp_path / "world")
    killer, started = Killer(forks, seed=kills), monotonic()
    within = killer.whole(work, *arguments)
    undisturbed = COMES_TO[work]()
    assert wrong() == []
    found: list[str] = []

    def ended() -> None:
        """Let the work come to its end, hold it against the undisturbed one, and begin anew."""
        while work == "ingest" and retried():
            killer.whole(work)
        found.extend(wrong())
        if COMES_TO[work]() != undisturbed:
            found.append("it comes to something else than undisturbed")
        world.restore()
        connections.close_all()

    world.restore()
    found += killer.kill(kills, work, *arguments, within=within, ended=ended, look=invariants.broken)
    killer.whole(work, *arguments)
    ended()
    world.close()

    seconds = monotonic() - started
    print(f"{work}: {kills} kills in {seconds:.1f} s, {killer.rounds} rounds, {within:.2f} s undisturbed")  # noqa: T201
    assert "\n".join(found) == ""


def retried() -> int:
    """Queue again what fell to killed workers, and only that."""
    failed = IngestionItem.objects.filter(outcome="failed")
    assert set(failed.values_list("reason", flat=True)) <= {"worker_lost"}
    return sum(runs.retry(run=run, by=None) for run in IngestionRun.objects.all())


def wrong() -> list[str]:
    return [*invariants.broken(), *invariants.records_apart(), *invariants.orphans()]


def _handed_over(manifest: Path) -> tuple[str, ...]:
    enqueueing.enqueue(from_manifest(manifest), by=None)
    return ()


def _to_be_extracted(manifest: Path) -> tuple[str, ...]:
    flows.Ingest(manifest).run()
    return (str(background.enqueue(kind="rules", limit=None, by=None).pk),)


def _to_be_merged(manifest: Path) -> tuple[str, ...]:
    flows.Ingest(manifest).run()
    graph()
    return ()


def _to_be_embedded(manifest: Path) -> tuple[str, ...]:
    flows.Ingest(manifest).run()
    return (OTHER,)


def _graph() -> object:
    runs = ExtractionRun.objects.values_list("state", "passages_done", "entities_added", "mentions_added")
    return [list(queries.dump()), list(runs)]


PREPARED: dict[str, Callable[[Path], tuple[str, ...]]] = {
    "ingest": _handed_over, "extract": _to_be_extracted, "merge": _to_be_merged, "re-embed": _to_be_embedded,
}  # fmt: skip
COMES_TO: dict[str, Callable[[], object]] = {
    "ingest": flows.corpus_as_text, "extract": _graph, "merge": _graph, "re-embed": flows.corpus_as_text,
}  # fmt: skip
