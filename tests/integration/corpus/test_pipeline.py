"""Jobs: claimed once, written once, given up after two attempts, cancelled, retried; a broker only rings."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

import pytest
from celery import Celery
from django.contrib.auth.models import User
from django.db import OperationalError, connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from corpus import bells, enqueueing, jobs, pipeline, tasks
from corpus.actions import runs
from corpus.ingestion import ingest
from corpus.inputs import from_manifest, from_paths
from corpus.jobs import Kind
from corpus.models import Document, IngestionItem, IngestionRun, Job, RightsDecision, StageResult
from tests.integration.corpus.ingesting import paper, write

pytestmark = pytest.mark.django_db(transaction=True)

# A broker that nobody answers for: port 1 is never open.
deaf = Celery("deaf", broker="redis://127.0.0.1:1/0")
deaf.conf.broker_transport_options = {"max_retries": 1, "interval_start": 0.0, "interval_max": 0.1}


@pytest.fixture(autouse=True)
def media(tmp_path: Path, settings) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    return settings.MEDIA_ROOT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(3):
        write(tmp_path / "in", f"{number}.md", paper(f"{number} days", title=f"Paper {number}"))
    return tmp_path / "in"


def enqueue(*paths: Path, by: User | None = None) -> IngestionRun:
    return enqueueing.enqueue(from_paths(paths), by=by)


def work_off(*kinds: Kind) -> None:
    while any(pipeline.work(kind=kind) for kind in kinds or tuple(Kind)):
        pass


def outcomes(run: IngestionRun) -> list[tuple[str, str]]:
    return [
        (Path(path).name, outcome)
        for path, outcome in run.items.order_by("id").values_list("path", "outcome")
    ]


def expire() -> None:
    """Let every lease run out, as if its worker had died long ago on another machine."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE corpus_job SET lease_until = now() - interval '1 minute' WHERE state = 'running'"
        )


def test_a_run_goes_through_its_stages_and_ends(folder: Path) -> None:
    run = enqueue(folder)
    work_off(Kind.PARSE)
    assert (StageResult.objects.count(), Document.objects.count()) == (3, 0)

    work_off()

    run.refresh_from_db()
    assert (run.state, run.finished_at is None) == ("finished", False)
    assert outcomes(run) == [("0.md", "ready"), ("1.md", "ready"), ("2.md", "ready")]
    assert StageResult.objects.count() == 0
    assert set(Job.objects.values_list("kind", "state", "attempt")) == {
        ("parse", "done", 1), ("embed", "done", 1), ("settle", "done", 1),
    }  # fmt: skip
    document = Document.objects.get(title="Paper 1")
    assert (document.file_name, document.chunk_count) == ("1.md", document.chunks.count())


def test_what_cannot_be_kept_or_parsed_fails_at_once_and_the_rest_goes_on(folder: Path, settings) -> None:
    write(folder, "table.xyz", "a")
    write(folder, "large.md", "b" * 1_100_000)
    settings.SCI_RAG_MAX_UPLOAD_MB = 1

    run = enqueue(folder, folder / "missing.md")
    work_off()

    reasons = dict(run.items.filter(outcome="failed").values_list("path", "reason"))
    assert {Path(path).name: reason for path, reason in reasons.items()} == {
        "table.xyz": "unsupported_file_type", "large.md": "too_large", "missing.md": "storage_failed",
    }  # fmt: skip
    assert run.items.filter(outcome="ready").count() == 3


@pytest.mark.parametrize("stage", [Kind.PARSE, Kind.EMBED])
def test_a_worker_that_was_given_up_for_dead_changes_nothing(folder: Path, stage: Kind) -> None:
    run = enqueue(folder / "0.md")
    if stage is Kind.EMBED:
        work_off(Kind.PARSE)
    zombie = jobs.claim(kind=stage)
    expire()
    assert pipeline.reclaim() == 1
    work_off()
    before = (Document.objects.values("pk", "updated_at").get(), list(Job.objects.order_by("id").values()))

    pipeline._do(zombie)

    after = (Document.objects.values("pk", "updated_at").get(), list(Job.objects.order_by("id").values()))
    assert after == before
    assert outcomes(run) == [("0.md", "ready")]
    assert RightsDecision.objects.count() == 0


def test_two_lost_workers_are_enough_and_retrying_by_hand_begins_anew(folder: Path) -> None:
    run = enqueue(folder / "0.md")
    for _ in range(2):
        assert jobs.claim(kind=Kind.PARSE) is not None
        expire()
        pipeline.reclaim()

    assert jobs.claim(kind=Kind.PARSE) is None
    job = Job.objects.get(kind=Kind.PARSE)
    assert (job.state, job.attempt) == ("poisoned", 2)
    item = run.items.get()
    assert (item.outcome, item.reason) == ("failed", "worker_lost")
    work_off()
    run.refresh_from_db()
    assert run.state == "finished"

    assert runs.retry(run=run, by=None) == 1
    work_off()

    run.refresh_from_db()
    assert (run.state, outcomes(run)) == ("finished", [("0.md", "ready")])


def test_a_lease_is_renewed_while_its_worker_lives(folder: Path, settings) -> None:
    enqueue(folder / "0.md")
    settings.SCI_RAG_LEASE_SECONDS = 1
    claim = jobs.claim(kind=Kind.PARSE)
    first = Job.objects.get().lease_until

    with pipeline.leases.kept(claim):
        deadline = monotonic() + 10
        while Job.objects.get().lease_until == first:
            assert monotonic() < deadline

    assert jobs.renew(claim)
    expire()
    Job.objects.update(attempt=5)
    assert not jobs.renew(claim)


def test_a_job_of_a_process_that_is_gone_is_free_at_once(folder: Path) -> None:
    enqueue(folder / "0.md")
    jobs.claim(kind=Kind.PARSE)
    assert jobs.abandoned() == []

    # No system gives a process this number.
    Job.objects.update(worker=jobs.this_worker().rpartition("/")[0] + f"/{2**30}")

    assert len(jobs.abandoned()) == 1
    Job.objects.update(worker=f"elsewhere/{2**30}")
    assert jobs.abandoned() == []


def test_a_hundred_deliveries_at_once_have_one_effect_each(tmp_path: Path) -> None:
    for number in range(5):
        write(tmp_path / "many", f"{number}.md", paper(f"{number} weeks", title=f"Paper {number}"))
    run = enqueue(tmp_path / "many")

    def deliver(identifier: str) -> None:
        try:
            tasks.work(identifier)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        messages = [str(job) for job in Job.objects.values_list("pk", flat=True)] * 20
        list(pool.map(deliver, messages))
    work_off()

    assert {outcome for _, outcome in outcomes(run)} == {"ready"}
    assert Document.objects.count() == 5
    assert set(Job.objects.exclude(kind="settle").values_list("state", "attempt")) == {("done", 1)}


def test_cancelling_stops_between_two_stages_and_the_rest_can_be_taken_in_later(folder: Path) -> None:
    run = enqueue(folder)
    pipeline.work(kind=Kind.PARSE)
    pipeline.work(kind=Kind.EMBED)
    pipeline.work(kind=Kind.PARSE)

    assert runs.cancel(run=run, by=None) == 2
    work_off()

    run.refresh_from_db()
    assert run.state == "cancelled"
    assert [outcome for _, outcome in outcomes(run)] == ["ready", "waiting", "waiting"]
    assert StageResult.objects.count() == 0
    with pytest.raises(runs.RunCancelled):
        enqueueing.enqueue_files(run=run, files=from_paths([folder / "2.md"]).files)

    assert runs.retry(run=run, by=None) == 2
    work_off()

    run.refresh_from_db()
    assert (run.state, {outcome for _, outcome in outcomes(run)}) == ("finished", {"ready"})


def test_a_file_at_hand_when_its_run_is_cancelled_is_not_handed_on(folder: Path) -> None:
    run = enqueue(folder / "0.md")
    claim = jobs.claim(kind=Kind.PARSE)
    runs.cancel(run=run, by=None)

    pipeline._do(claim)

    assert Job.objects.get(kind=Kind.PARSE).state == "cancelled"
    assert not Job.objects.filter(kind=Kind.EMBED).exists()
    assert outcomes(run) == [("0.md", "waiting")]


def test_a_file_that_ends_while_its_run_is_being_cancelled_learns_of_it(folder: Path) -> None:
    run = enqueue(folder)
    claim = jobs.claim(kind=Kind.PARSE)
    assert claim is not None

    def end() -> str:
        try:
            return jobs.end_of_file(claim, Job.State.DONE)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        runs.cancel(run=run, by=None)
        state = pool.submit(end)
        wait_until_somebody_waits_for_a_lock()
        assert not state.done()
    assert state.result() == "cancelled"
    assert Job.objects.get(pk=claim.job).state == "done"
    with pytest.raises(jobs.LostClaim):
        jobs.end_of_file(claim, Job.State.DONE)


def wait_until_somebody_waits_for_a_lock() -> None:
    deadline = monotonic() + 10
    with connection.cursor() as cursor:
        while monotonic() < deadline:
            cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted")
            if cursor.fetchone():
                return
    pytest.fail("Nobody waited for the run.")


def test_a_file_costs_few_statements(tmp_path: Path) -> None:
    def taken(count: int, way: Callable[[list[Path]], object]) -> int:
        folder = tmp_path / f"{way.__name__}{count}"
        files = [write(folder, f"{number}.md", paper(f"{folder.name} {number}")) for number in range(count)]
        with CaptureQueriesContext(connection) as queries:
            way(files)
        return len(queries)

    def in_the_foreground(files: list[Path]) -> None:
        assert ingest(from_paths(files)).counts["ready"] == len(files)

    def by_a_worker(files: list[Path]) -> None:
        run = enqueue(*files)
        work_off()
        assert run.items.filter(outcome="ready").count() == len(files)

    foreground, worker = ((taken(7, way) - taken(2, way)) / 5 for way in (in_the_foreground, by_a_worker))
    # Each is a round trip and an object of Python's: a plain script that keeps nothing else needs three.
    # One seals what the file was cut into.
    assert foreground <= 12
    assert worker <= 25


def test_work_is_accepted_while_the_broker_is_down_and_the_sweep_rings_for_it(folder: Path, settings) -> None:
    settings.CELERY_APP = f"{__name__}.deaf"
    started = monotonic()
    run = enqueue(folder)
    assert monotonic() - started < 10
    assert Job.objects.filter(state="queued").count() == 3
    assert not bells.ring(Kind.PARSE, [Job.objects.first().pk])

    rung: list[str] = []
    settings.CELERY_APP = f"{__name__}.heard"
    heard.send_task = lambda name, args, **_: rung.append(args[0])
    tasks.sweep_jobs()
    assert rung == []

    Job.objects.update(queued_at="2020-01-01T00:00:00Z")
    tasks.sweep_jobs()
    assert sorted(rung) == sorted(str(job) for job in Job.objects.values_list("pk", flat=True))
    assert run.items.filter(outcome="waiting").count() == 3


heard = Celery("heard", broker="memory://")


def test_a_file_added_to_a_run_that_had_ended_opens_it_again(folder: Path) -> None:
    run = enqueue(folder / "0.md")
    work_off()

    enqueueing.enqueue_files(run=run, files=from_paths([folder / "1.md"]).files)
    run.refresh_from_db()
    assert run.state == "running"
    work_off()

    run.refresh_from_db()
    assert (run.state, outcomes(run)) == ("finished", [("0.md", "ready"), ("1.md", "ready")])


def test_the_same_text_twice_is_one_document_and_a_duplicate(folder: Path) -> None:
    write(folder, "twin.md", (folder / "0.md").read_text() + "\n\n")
    run = enqueue(folder / "0.md", folder / "twin.md")
    work_off(Kind.PARSE)
    work_off()

    assert sorted(outcome for _, outcome in outcomes(run)) == ["duplicate", "ready"]
    assert Document.objects.count() == 1


def test_versions_of_a_manifest_are_linked_when_the_last_file_is_in(folder: Path) -> None:
    rows = [
        {"path": "1.md", "title": "Second edition", "supersedes": "0.md", "license_class": "public"},
        {"path": "0.md", "title": "First edition"},
    ]
    manifest = write(folder, "manifest.jsonl", "\n".join(json.dumps(row) for row in rows))
    run = enqueueing.enqueue(from_manifest(manifest), by=None)
    work_off()

    second = Document.objects.get(title="Second edition")
    assert Document.objects.get(title="First edition").superseded_by == second
    assert (second.license_class, RightsDecision.objects.get().process) == ("public", "manifest")
    item = run.items.get(path="1.md")
    assert "It supersedes “First edition”." in item.detail
    assert (item.described, item.line) == ({}, 1)


def test_who_lost_the_right_to_take_files_in_does_not_take_them_in(folder: Path, librarian: User) -> None:
    run = enqueue(folder / "0.md", by=librarian)
    librarian.groups.clear()

    work_off()

    assert run.items.get().reason == "not_allowed"
    assert Document.objects.count() == 0


def test_a_database_that_keeps_failing_ends_the_file_and_not_the_worker(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = enqueue(folder / "0.md")

    def away(*_: object) -> None:
        raise OperationalError

    monkeypatch.setattr(pipeline, "examine", away)
    work_off(Kind.PARSE)

    job = Job.objects.get(kind=Kind.PARSE)
    assert (job.state, job.attempt, job.interruptions) == (
        "failed",
        jobs.INTERRUPTIONS + 1,
        jobs.INTERRUPTIONS,
    )
    assert run.items.get().reason == "internal_error"


def test_an_original_that_waits_for_its_turn_is_not_swept_away(folder: Path, monkeypatch) -> None:
    from corpus import ingestion, storage

    run = enqueue(folder / "0.md")
    kept = storage.path_of(IngestionItem.objects.get().file_sha256)
    monkeypatch.setattr(ingestion, "_ORPHAN_SECONDS", -1)

    assert ingestion.sweep_originals() == 0
    assert kept.exists()
    runs.cancel(run=run, by=None)
    IngestionRun.objects.update(started_at="2020-01-01T00:00:00Z")
    assert ingestion.sweep_originals() == 1


def test_the_backlog_counts_and_says_how_old_the_oldest_is(folder: Path) -> None:
    assert jobs.backlog() == jobs.Backlog(0, 0, 0.0)
    enqueue(folder)
    jobs.claim(kind=Kind.PARSE)
    Job.objects.filter(state="queued").update(queued_at="2020-01-01T00:00:00Z")

    backlog = jobs.backlog()

    assert (backlog.queued, backlog.running) == (2, 1)
    assert backlog.oldest_seconds > 1e8
