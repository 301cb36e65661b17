"""What a worker does with one job: read a file, embed it and store it, or finish a run.

Work is done first and outside any transaction. What came of it is then written in one transaction that
also ends the job, which fails unless the claim still stands: of two workers with the same job only one
has an effect.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from time import monotonic
from typing import TYPE_CHECKING, TypeGuard
from uuid import UUID

import structlog
from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import Error, transaction

from corpus import assignments, bells, connections, jobs, leases, reparsing, stages, storage, vectors
from corpus.actions import runs
from corpus.chunking import ChunkingLimits
from corpus.gateways.embedding import embedder_of
from corpus.ingestion import guarded, record, sweep_originals
from corpus.inputs import Batch
from corpus.intake import Intake, Options, examine, held_already
from corpus.jobs import Claim, Kind, LostClaim
from corpus.manifest import Entry
from corpus.models import Document, IngestionItem, IngestionRun, Job, StageResult
from corpus.parsing.blocks import ParseFailure
from corpus.parsing.registry import ParseLimits
from corpus.parsing.sandbox import READER_KILLED
from corpus.preparation import Prepared
from corpus.reparsing import Reading
from corpus.reports import Outcome, Report
from corpus.succession import link_successors

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)

# A restart of the database takes seconds; a crash recovery may take longer, and then the lease runs out.
_PAUSES = (0.5, 1, 2, 4, 8, 15)
_WORKER_LOST = (
    "The worker ended without a word while it took this file in, twice: too little memory, or it was "
    "killed. Retry it alone, or take a smaller file."
)
_READER_KILLED = (
    "The process that reads the file was killed from outside, twice: too little memory on the machine, or "
    "somebody ended it. Retry it alone, or take a smaller file."
)
_OUT_OF_TIME = "Taking the file in took longer than a worker may spend on one file."
_NOT_ALLOWED = "Whoever asked for this may not take files in any more."
_INTERNAL = "Something unforeseen went wrong, again and again. The worker's log says more."


def work(*, kind: Kind, job: UUID | None = None) -> bool:
    """Claim the next job of `kind`, or this one, and do it; say whether there was one."""
    claim = jobs.claim(kind=kind, job=job)
    if claim is None:
        return False
    with leases.kept(claim):
        _do(claim)
    return True


def _do(claim: Claim) -> None:
    started = monotonic()
    try:
        _STAGES[Kind(claim.kind)](claim)
    except LostClaim:
        logger.warning("job.lost", job=str(claim.job), attempt=claim.attempt)
    except SoftTimeLimitExceeded:
        _write(claim, lambda: _give_up(claim, "time_limit", _OUT_OF_TIME))
    except Exception as error:  # noqa: BLE001 - the worker's border: the job says what became of it
        # The type alone: messages of the database quote the text they refuse.
        logger.error("job.interrupted", job=str(claim.job), kind=type(error).__name__)  # noqa: TRY400
        _write(claim, lambda: _interrupted(claim))
    else:
        seconds = round(monotonic() - started, 3)
        logger.info("job.ended", job=str(claim.job), stage=claim.kind, seconds=seconds)


def _write(claim: Claim, effect: Callable[[], None]) -> None:
    """Run `effect`, which ends the job, in a transaction; wait for a database that is away.

    A claim that is lost raises `LostClaim` there, which takes everything else of the effect back. When the
    connection breaks in the middle of the commit, the next try finds the job ended or not.
    """
    for pause in (*_PAUSES, None):
        try:
            with transaction.atomic():
                _lock_run_of_settling(claim)
                effect()
        except Error as error:
            connections.release()
            if pause is None:
                raise
            logger.warning("job.write_again", job=str(claim.job), kind=type(error).__name__)
            time.sleep(pause)
        else:
            return


def _lock_run_of_settling(claim: Claim) -> None:
    """Take the run's lock before the job's: whoever ends a file holds the run when it queues this job."""
    if claim.item is None:
        runs.locked(IngestionRun(pk=claim.run))


def _interrupted(claim: Claim) -> None:
    """Queue the job again, the attempt not counted: it was not the file that went wrong."""
    if not jobs.give_back(claim, code="interrupted"):
        _give_up(claim, "internal_error", _INTERNAL)


def _give_up(claim: Claim, code: str, detail: str, *, state: Job.State = Job.State.FAILED) -> None:
    if claim.item is None:
        jobs.end(claim, state, code=code)
        run = runs.locked(IngestionRun(pk=claim.run))
        runs.finish(run, IngestionRun.State.FAILED)
        return
    item = IngestionItem.objects.get(pk=claim.item)
    _end(claim, item, Report(item.path, Outcome.FAILED, code, detail), state=state)


def reclaim() -> int:
    """Queue again what dead workers held, or give it up after its last attempt; return how many."""
    count = 0
    for claim in jobs.abandoned():
        with transaction.atomic():
            _lock_run_of_settling(claim)
            if jobs.seize(claim):
                _reclaim(claim)
                count += 1
    return count


def _reclaim(claim: Claim) -> None:
    if claim.is_last:
        _give_up(claim, "worker_lost", _WORKER_LOST, state=Job.State.POISONED)
        return
    run = runs.locked(IngestionRun(pk=claim.run))
    if run.state == IngestionRun.State.CANCELLED and claim.item is not None:
        jobs.end(claim, Job.State.CANCELLED, code="worker_lost")
        runs.settle_when_done(run)
        return
    jobs.put_back(claim, code="worker_lost")
    bells.ring_on_commit(Kind(claim.kind), [claim.job])


def _parse(claim: Claim) -> None:
    started = monotonic()
    item = assignments.of_item(claim.item).item
    if reparsing.is_asked_by(item.run):
        _read_again(claim, item, started)
        return
    options = _options(item.run)
    found: Report | Prepared | Document
    if _is_still_allowed(item.run):
        found = guarded(_entry(item), lambda entry: examine(entry, options))
    else:
        found = Report(item.path, Outcome.FAILED, "not_allowed", _NOT_ALLOWED)
    if _is_killed_reader(found):
        _write(claim, lambda: _read_once_more(claim, found))
        return
    seconds = round(monotonic() - started, 3)
    parsed = stages.encode(replace(found, seconds=seconds)) if isinstance(found, Prepared) else b""

    def effect() -> None:
        if isinstance(found, Report):
            _end(claim, item, replace(found, seconds=seconds))
        elif isinstance(found, Document):
            _end(claim, item, replace(held_already(_entry(item), found), seconds=seconds))
        else:
            _hand_on(claim, item, parsed)

    _write(claim, effect)


def _read_again(claim: Claim, item: IngestionItem, started: float) -> None:
    """Give a held document what another reading finds; nothing is kept between reading and storing."""
    entry, run = _entry(item), item.run

    def read() -> Reading:
        if not _is_still_allowed(run):
            raise ParseFailure("not_allowed", _NOT_ALLOWED)
        return reparsing.read(
            document_id=item.document_id, parser=run.parameters["parser"], options=_options(run)
        )

    found = guarded(entry, lambda _: read())
    if _is_killed_reader(found):
        _write(claim, lambda: _read_once_more(claim, found))
        return

    def effect() -> None:
        kept = found if isinstance(found, Report) else guarded(entry, lambda _: _kept_again(found, run))
        seconds = round(monotonic() - started, 3)
        _end(claim, item, replace(kept, document=item.document_id, seconds=seconds))

    _write(claim, effect)


def _kept_again(reading: Reading, run: IngestionRun) -> Report:
    return reparsing.keep(reading, by=run.started_by)


def _is_killed_reader(found: object) -> TypeGuard[Report]:
    return isinstance(found, Report) and found.reason == READER_KILLED


def _read_once_more(claim: Claim, report: Report) -> None:
    """Queue a file whose reader was killed again, the attempt counted; after the last it is given up."""
    if claim.is_last:
        _give_up(claim, report.reason, _READER_KILLED, state=Job.State.POISONED)
        return
    if not jobs.put_back(claim, code=report.reason):
        raise LostClaim(str(claim.job))
    bells.ring_on_commit(Kind(claim.kind), [claim.job])


def _hand_on(claim: Claim, item: IngestionItem, parsed: bytes) -> None:
    """Keep what parsing made and queue the next stage, unless the run was cancelled meanwhile."""
    if jobs.end_of_file(claim, Job.State.DONE) == IngestionRun.State.CANCELLED:
        Job.objects.filter(pk=claim.job).update(state=Job.State.CANCELLED)
        runs.settle_when_done(item.run)
        return
    job = jobs.queue_embedding(run=claim.run, item=item.pk, parsed=parsed)
    if job and bells.are_due(Kind.EMBED):
        bells.ring_on_commit(Kind.EMBED, [job])


def _embed(claim: Claim) -> None:
    started = monotonic()
    given = assignments.of_item(claim.item)
    if given.parsed is None:
        _write(claim, lambda: _parse_again(claim))
        return
    prepared = stages.decode(given.parsed, entry=_entry(given.item))
    version = given.version or vectors.ensure_version(vectors.active_embedder())
    intake = Intake(_options(given.run), embedder_of(version.name), version, given.run.started_by)
    while True:
        try:
            _embed_and_store(claim, given.item, prepared, intake, started - prepared.seconds)
        except vectors.VersionSwitched:
            intake.follow()
        else:
            return


def _embed_and_store(
    claim: Claim, item: IngestionItem, prepared: Prepared, intake: Intake, started: float
) -> None:
    entry = prepared.entry
    made = guarded(entry, lambda _: intake.embed(prepared))

    def effect() -> None:
        kept = made if isinstance(made, Report) else guarded(entry, lambda _: intake.keep(prepared, made))
        _end(claim, item, replace(kept, seconds=round(monotonic() - started, 3)))

    _write(claim, effect)


def _parse_again(claim: Claim) -> None:
    jobs.end(claim, Job.State.CANCELLED, code="no_stage_result")
    job = jobs.queue(kind=Kind.PARSE, dedupe_key=f"parse:{claim.item}", run=claim.run, item=claim.item)
    bells.ring_on_commit(Kind.PARSE, [job] if job else [])


def _end(claim: Claim, item: IngestionItem, report: Report, *, state: Job.State | None = None) -> None:
    """Record how a file ended, and whether its run has, and end the job."""
    record(item, report)
    StageResult.objects.filter(item=item).delete()
    if report.outcome == Outcome.FAILED:
        jobs.end_of_file(claim, state or Job.State.FAILED, code=report.reason)
    else:
        jobs.end_of_file(claim, Job.State.DONE)
    runs.settle_when_done(IngestionRun(pk=claim.run))


def _settle(claim: Claim) -> None:
    """Do what comes after the last file: versions of each other, the index, the end of the run."""
    version = vectors.active_version()
    if version is not None:
        vectors.build_index_when_large(version)
    sweep_originals()

    def effect() -> None:
        run = runs.locked(IngestionRun(pk=claim.run))
        unfinished = Job.objects.filter(run=run, state__in=jobs.OPEN_STATES).exclude(kind=Kind.SETTLE)
        if not unfinished.exists():
            _link(run)
            runs.settled(run)
        jobs.end(claim, Job.State.DONE)

    _write(claim, effect)


def _link(run: IngestionRun) -> None:
    """Record which documents of the run take the place of which."""
    items = list(run.items.select_related("document").order_by("id"))
    batch = Batch(run.origin, tuple(_entry(item) for item in items))
    reports = [_report(item) for item in items]
    for index, report in link_successors(batch, reports, by=run.started_by):
        said = reports[index].detail
        if report.detail.removeprefix(said).strip() not in said:
            record(items[index], report)


def _report(item: IngestionItem) -> Report:
    passages = item.document.chunk_count if item.document and item.outcome == Outcome.READY else 0
    outcome = Outcome(item.outcome)
    return Report(
        item.path, outcome, item.reason, item.detail, item.document_id, passages, item.seconds or 0.0
    )


def _is_still_allowed(run: IngestionRun) -> bool:
    """Whether whoever asked for the run may take files in today; the command line's operator may."""
    by: User | None = run.started_by
    return by is None or (by.is_active and by.has_perm("corpus.add_ingestionrun"))


def _entry(item: IngestionItem) -> Entry:
    return Entry(
        storage.path_of(item.file_sha256),
        item.path,
        stages.description_from_dict(item.described),
        item.line,
        file_name=PurePath(item.path).name,
    )


def _options(run: IngestionRun) -> Options:
    """Return the options of the run: as they were when it was asked for, but for today's limits."""
    return Options(
        chunking=ChunkingLimits(**run.parameters["chunking"]),
        limits=ParseLimits(max_bytes=settings.SCI_RAG_MAX_UPLOAD_MB * 1_000_000),
        bucket=run.parameters["bucket"],
    )


_STAGES: dict[Kind, Callable[[Claim], None]] = {Kind.PARSE: _parse, Kind.EMBED: _embed, Kind.SETTLE: _settle}
