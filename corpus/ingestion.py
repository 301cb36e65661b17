"""Taking files into the corpus: the run over all of them, its record, and the rehearsal without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

import structlog
from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from corpus import storage, vectors
from corpus.actions import runs
from corpus.chunking import ChunkingLimits
from corpus.domain_profile import active_profile
from corpus.gateways.embedding import Embedder, EmbeddingError
from corpus.inputs import Batch, Refusal
from corpus.intake import DATABASE_UNUSABLE, Intake, Options, duplicate, examine, stored
from corpus.manifest import Entry
from corpus.models import Document, IngestionItem, IngestionRun
from corpus.parsing.blocks import ParseFailure
from corpus.parsing.registry import ParseLimits
from corpus.reports import Outcome, Progress, Report, RunReport, Unwatched
from corpus.succession import link_successors
from corpus.vectors import active_embedder

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)
T = TypeVar("T")

# A crash between storing an original and its document leaves the original alone. So does an ingest that
# is at that point right now, hence a day.
_ORPHAN_SECONDS = 24 * 3600
_RETRIES_FOR = timedelta(days=30)
DISK_FULL = "disk_full"


def default_options(
    *, bucket: str = "", chunk_tokens: int | None = None, overlap_tokens: int | None = None
) -> Options:
    """Return the options of the domain profile and the settings, with what the caller changes."""
    profile = active_profile()
    chunking = ChunkingLimits(
        chunk_tokens=profile.chunk_tokens if chunk_tokens is None else chunk_tokens,
        overlap_tokens=profile.overlap_tokens if overlap_tokens is None else overlap_tokens,
        table_tokens=profile.table_tokens,
    )
    limits = ParseLimits(max_bytes=settings.SCI_RAG_MAX_UPLOAD_MB * 1_000_000)
    return Options(chunking=chunking, limits=limits, bucket=bucket)


def ingest(
    batch: Batch,
    *,
    options: Options | None = None,
    embedder: Embedder | None = None,
    by: User | None = None,
    progress: Progress | None = None,
) -> RunReport:
    """Take the files of `batch` in and record the run; return what became of each.

    A file that fails is a report with a reason and never stops the others. What was stored stays when the
    run is interrupted, and running it again takes in what is missing. Raises `EmbeddingError` before the
    first file when the corpus is embedded with something else.
    """
    started = monotonic()
    embedder = embedder or active_embedder()
    intake = Intake(options or default_options(), embedder, vectors.ensure_version(embedder), by)
    runs.close_abandoned()
    run, items = runs.start(
        origin=batch.origin,
        names=[file.name for file in batch.files],
        parameters={
            "bucket": intake.options.bucket,
            "chunking": asdict(intake.options.chunking),
            "embedding": intake.version.name,
        },
        by=by,
    )
    state = IngestionRun.State.FAILED
    try:
        reports = ingest_files(items=items, batch=batch, intake=intake, progress=progress or Unwatched())
        state = IngestionRun.State.FINISHED
    except (KeyboardInterrupt, SystemExit):
        state = IngestionRun.State.CANCELLED
        raise
    finally:
        runs.finish(run, state)
    vectors.build_index_when_large(intake.version)
    sweep_originals()
    return RunReport(run.pk, reports, monotonic() - started)


def ingest_files(
    *, items: Sequence[IngestionItem], batch: Batch, intake: Intake, progress: Progress
) -> list[Report]:
    """Take the files of a recorded run in, recording each as it ends; return their reports in order."""
    reports = _each(
        batch, intake.take, progress, on_report=lambda index, report: record(items[index], report)
    )
    for index, report in link_successors(batch, reports, by=intake.by):
        reports[index] = report
        record(items[index], report)
    return reports


def rehearse(batch: Batch, *, options: Options | None = None, progress: Progress | None = None) -> RunReport:
    """Say what taking `batch` in would do. Files are parsed and cut; nothing is written or embedded."""
    started = monotonic()
    chosen = options or default_options()
    seen: dict[str, str] = {}

    def look(entry: Entry) -> Report:
        found = examine(entry, chosen)
        if isinstance(found, Document):
            return duplicate(entry, found)
        first = seen.setdefault(found.content_sha256, entry.name)
        if first != entry.name:
            return Report(entry.name, Outcome.DUPLICATE, "already_held", f"The same text as {first}.")
        return stored(entry, found, None)

    reports = _each(batch, look, progress or Unwatched(), on_report=lambda _index, _report: None)
    return RunReport(None, reports, monotonic() - started)


def _each(
    batch: Batch,
    handle: Callable[[Entry], Report],
    progress: Progress,
    *,
    on_report: Callable[[int, Report], None],
) -> list[Report]:
    progress.begin(len(batch.files))
    reports = []
    for index, file in enumerate(batch.files):
        progress.file(file.name)
        started = monotonic()
        if isinstance(file, Refusal):
            report = Report(file.name, Outcome.FAILED, file.code, file.detail)
        else:
            report = guarded(file, handle)
        report = replace(report, seconds=round(monotonic() - started, 3))
        reports.append(report)
        on_report(index, report)
        progress.done(report)
    return reports


def guarded(entry: Entry, handle: Callable[[Entry], T]) -> T | Report:
    """Handle one file; turn what goes wrong with it into its report.

    Raises what is no file's fault: an unusable database, that the worker's time for it is over, and that
    the corpus moved to other vectors meanwhile.
    """
    try:
        return handle(entry)
    except (*DATABASE_UNUSABLE, SoftTimeLimitExceeded, vectors.VersionSwitched):
        raise
    except Exception as error:  # noqa: BLE001 - one file's failure never stops the batch
        return Report(entry.name, Outcome.FAILED, *_reason(error))


def _reason(error: Exception) -> tuple[str, str]:
    """Return what a file's failure is called and what is said of it."""
    match error:
        case ParseFailure():
            return error.code, str(error)
        case EmbeddingError():
            return "embedding_failed", str(error)
        case storage.FileChanged():
            return "changed_while_reading", str(error)
        case storage.NoRoom():
            return DISK_FULL, "There is no room left on the site’s disk: the file was not kept."
        case OSError():
            return "storage_failed", f"The file could not be kept: {error.strerror or error}."
    # The type alone: messages of the database quote the text they refuse.
    kind = type(error).__name__
    logger.error("ingestion.file_failed", kind=kind)
    return "internal_error", f"Something unforeseen went wrong ({kind})."


def record(item: IngestionItem, report: Report) -> None:
    """Write what became of a file to its row."""
    item.outcome = report.outcome
    item.reason = report.reason
    item.detail = report.detail
    item.document_id = report.document
    item.seconds = report.seconds
    item.save(update_fields=["outcome", "reason", "detail", "document", "seconds"])


def sweep_originals() -> int:
    """Remove originals that belong to no document and unfinished copies, a day after the last touch.

    One that waits for its turn stays, and one that failed stays for a month, so that it can be retried.
    """
    removed = 0
    for path in storage.older_than(_ORPHAN_SECONDS):
        if not (_is_held(path.name) or _is_wanted(path.name)):
            path.unlink(missing_ok=True)
            removed += 1
    return removed


def _is_held(file_sha256: str) -> bool:
    return Document.objects.filter(file_sha256=file_sha256).exists()


def _is_wanted(file_sha256: str) -> bool:
    undone = [IngestionItem.Outcome.WAITING, IngestionItem.Outcome.FAILED]
    recent = timezone.now() - _RETRIES_FOR
    return IngestionItem.objects.filter(
        Q(run__state=IngestionRun.State.RUNNING) | Q(run__started_at__gt=recent),
        file_sha256=file_sha256,
        outcome__in=undone,
    ).exists()
