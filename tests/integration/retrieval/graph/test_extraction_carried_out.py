"""One process alone carries a run of extraction out; what a killed one left goes on where it stopped."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event
from time import monotonic, sleep

import pytest
from click.testing import CliRunner, Result
from django.db import connection
from django.utils import timezone
from pytest_django.fixtures import Settings

from corpus import jobs, run_claims
from corpus.run_claims import RunLost
from corpus.usage.budget import Cap
from retrieval.cli_graph import graph
from retrieval.graph.actions import extraction as action
from retrieval.graph.extraction import background, choosing, running
from retrieval.graph.extraction.rules import RuleExtractor
from retrieval.graph.extraction.running import Reach
from retrieval.graph.extraction.types import Batch, Suggestions
from retrieval.graph.ontology import active_ontology
from retrieval.models import ChunkStamp, Entity, ExtractionRun
from tests.integration.retrieval.graph.extracting import document

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "Pyrolysis produces biochar. Anaerobic digestion (AD) gives methane."


class Slow:
    """Reads by rules; `between` is called before each batch is handed back."""

    def __init__(self, between: Callable[[], object]) -> None:
        self._rules = choosing.rules(active_ontology())
        self.name, self.batch_limits = self._rules.name, (1, 1_000)
        self._between = between

    def read(self, batch: Batch) -> Suggestions:
        found = self._rules.read(batch)
        self._between()
        return found


def begun(*, for_workers: bool = False, **options: object) -> ExtractionRun:
    name = choosing.rules(active_ontology()).name
    parameters = {"kind": "rules", "limit": None, "again": False}
    values = {"extractor": name, "passages": 2, "parameters": parameters, **options}
    return action.start(is_for_workers=for_workers, **values)


def claimed(run: ExtractionRun) -> ExtractionRun:
    found = run_claims.claim(ExtractionRun, run.pk, for_workers=run.is_for_workers)
    assert found is not None
    return found


def killed(run: ExtractionRun) -> None:
    """Let the run be held by a process of this machine that is gone."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    host, _, _ = jobs.this_worker().rpartition("/")
    ExtractionRun.objects.filter(pk=run.pk).update(held_by=f"{host}/{gone.pid}", touched_at=timezone.now())


def carry_out(run: ExtractionRun, extractor: Slow | RuleExtractor) -> bool:
    return running.carry_out(run, extractor=extractor, ontology=active_ontology(), reach=Reach())


def resume(run: ExtractionRun, *options: str) -> Result:
    return CliRunner().invoke(graph, ["resume", str(run.pk), *options, "--json"])


def test_of_many_who_take_a_run_at_once_one_gets_it() -> None:
    run = begun(for_workers=True)

    def take(_: int) -> bool:
        try:
            return run_claims.claim(ExtractionRun, run.pk, for_workers=True) is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(take, range(8))).count(True) == 1


def test_whoever_lost_the_run_keeps_nothing_and_ends_nothing(settings: Settings) -> None:
    document(TEXT)
    first = claimed(begun(for_workers=True))
    silent = timezone.now() - timedelta(seconds=settings.SCI_RAG_LEASE_SECONDS + 1)
    ExtractionRun.objects.update(touched_at=silent)
    second = claimed(first)

    with pytest.raises(RunLost):
        carry_out(first, choosing.rules(active_ontology()))
    with pytest.raises(RunLost):
        action.count_failure(run=first.pk, code="unavailable", claim=first.claim)
    action.fail(run=first.pk, code="late", claim=first.claim)
    action.stop_at_the_cap(run=first.pk, claim=first.claim)
    assert action.finish(run=first.pk, claim=first.claim).state == "running"
    run_claims.let_go(first)

    assert (Entity.objects.count(), ChunkStamp.objects.count()) == (0, 0)
    assert run_claims.renew(second)
    assert carry_out(second, choosing.rules(active_ontology()))
    assert action.finish(run=second.pk, claim=second.claim).passages_done == 1


def test_the_claim_is_renewed_while_a_batch_takes_its_time(settings: Settings) -> None:
    settings.SCI_RAG_LEASE_SECONDS = 1
    document(TEXT)
    seen: list[object] = []

    def wait_for_a_renewal() -> None:
        deadline, first = monotonic() + 20, ExtractionRun.objects.get().touched_at
        while ExtractionRun.objects.get().touched_at == first:
            assert monotonic() < deadline
            sleep(0.05)
        seen.append(background.work(ExtractionRun.objects.get().pk))

    run = begun()
    ended = running.to_its_end(
        run, extractor=Slow(wait_for_a_renewal), ontology=active_ontology(), reach=Reach()
    )

    assert (ended.state, ended.batches_done, seen) == ("finished", 1, [None])


def test_two_commands_do_not_carry_the_same_run_out() -> None:
    document(TEXT)
    run, at_work, over = begun(), Event(), Event()

    def stay() -> None:
        at_work.set()
        assert over.wait(20)

    def carried() -> str:
        try:
            extractor = Slow(stay)
            return running.to_its_end(
                run, extractor=extractor, ontology=active_ontology(), reach=Reach()
            ).state
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(carried)
        assert at_work.wait(20)
        refused = resume(run)
        over.set()
        assert first.result(20) == "finished"

    assert refused.exit_code == 1
    assert "whose process is gone" in refused.stderr


def test_what_a_killed_worker_left_is_taken_up_at_once() -> None:
    document(TEXT)
    run = begun(for_workers=True)
    killed(claimed(run))

    background.go_on()

    run.refresh_from_db()
    assert (run.state, run.passages_done) == ("finished", 1)


def test_a_killed_command_is_ended_by_the_clock_and_goes_on_where_it_stopped() -> None:
    document(TEXT, "Torrefaction produces char.")
    run = begun(cap=Cap(max_tokens=100))
    first = claimed(run)
    stopping = Slow(lambda: None)
    for batch in list(running.batches(stopping))[:1]:
        running._read(first, batch, stopping, active_ontology(), running.capping.budget_of(first))
    killed(first)

    background.go_on()
    run.refresh_from_db()
    assert (run.state, run.last_error_code, run.passages_done) == ("failed", "abandoned", 1)
    # Its process may only have been stopped: it writes nothing more.
    with pytest.raises(RunLost):
        carry_out(first, choosing.rules(active_ontology()))

    went_on = resume(run)

    assert went_on.exit_code == 0, went_on.output
    run.refresh_from_db()
    assert json.loads(went_on.stdout)["state"] == run.state == "finished"
    assert (run.passages_done, run.max_tokens, run.last_error_code) == (2, 100, "")
    assert ChunkStamp.objects.count() == 2


def test_a_killed_command_is_resumed_without_waiting_for_the_clock() -> None:
    document(TEXT)
    run = begun()
    killed(claimed(run))

    assert resume(run).exit_code == 0

    run.refresh_from_db()
    assert (run.state, run.passages_done) == ("finished", 1)


def test_a_command_that_has_just_begun_is_not_taken_for_dead() -> None:
    run = begun()
    assert action.close_abandoned() == 0

    ExtractionRun.objects.update(started_at=timezone.now() - timedelta(minutes=2))
    assert action.close_abandoned() == 1
    run.refresh_from_db()
    assert run.state == "failed"
