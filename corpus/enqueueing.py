"""Handing files to the workers: originals first, then the rows, then the bell."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import PurePath
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction

from corpus import bells, jobs, storage, vectors
from corpus.actions import runs
from corpus.audit import recording
from corpus.ingestion import DISK_FULL, default_options, guarded
from corpus.inputs import Batch, Refusal
from corpus.intake import Options
from corpus.jobs import Kind
from corpus.manifest import Entry
from corpus.models import IngestionItem, IngestionRun
from corpus.parsing.blocks import ParseFailure
from corpus.parsing.media_types import of_name
from corpus.reports import Outcome, Report
from corpus.stages import description_to_dict
from corpus.vectors import active_embedder

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def open_run(*, origin: str, by: User | None, options: Options | None = None) -> IngestionRun:
    """Record a run of `plan_run` before it has files, for whoever has to know of it by then."""
    run = plan_run(origin=origin, by=by, options=options)
    run.save(force_insert=True)
    return run


def plan_run(*, origin: str, by: User | None, options: Options | None = None) -> IngestionRun:
    """Return a run that workers will carry out. It is recorded with its first files, by `enqueue_files`.

    Before that there is nothing to carry out, and so nothing that could be left behind. Raises
    `EmbeddingError` when the corpus is embedded with something else than the settings choose.
    """
    embedder = active_embedder()
    version = vectors.ensure_version(embedder)
    chosen = options or default_options()
    return runs.planned_for_workers(
        origin=origin,
        parameters={
            "bucket": chosen.bucket,
            "chunking": asdict(chosen.chunking),
            "embedding": version.name,
        },
        by=by,
    )


def enqueue(batch: Batch, *, by: User | None, options: Options | None = None) -> IngestionRun:
    """Hand all files of `batch` to the workers as one run. Raises `storage.NoRoom`."""
    run = plan_run(origin=batch.origin, by=by, options=options)
    enqueue_files(run=run, files=batch.files)
    return run


def enqueue_files(*, run: IngestionRun, files: Sequence[Entry | Refusal]) -> list[IngestionItem]:
    """Keep the originals, record an item and a job for each file, and wake the workers; return the items.

    May be called again for the same run as more files come: a run that had finished goes on. Accepted
    work survives everything from here on, a broker that is down included. A file that cannot be kept or
    that no parser reads is a failed item with its reason. Raises `RunCancelled` when somebody has
    cancelled the run, and `storage.NoRoom` when the disk is full, and then records nothing.
    """
    # Before the transaction: a row must never speak of an original that is not on disk.
    items = [_received(run, file) for file in files]
    with transaction.atomic():
        if run._state.adding:
            run.save(force_insert=True)
        else:
            runs.reopen(run)
        recording.record(
            recording.Kind.UPLOADED,
            by=run.started_by,
            about={"run": str(run.pk), "origin": run.origin[:60], "files": len(items)},
        )
        IngestionItem.objects.bulk_create(items, batch_size=500)
        waiting = [item for item in items if item.outcome == Outcome.WAITING]
        queued = jobs.queue_parsing(run=run.pk, items=[item.pk for item in waiting])
        bells.ring_on_commit(Kind.PARSE, queued)
        runs.settle_when_done(run)
    return items


def _received(run: IngestionRun, file: Entry | Refusal) -> IngestionItem:
    if isinstance(file, Refusal):
        return IngestionItem(
            run=run, path=file.name, outcome=Outcome.FAILED, reason=file.code, detail=file.detail
        )
    kept = guarded(file, _keep_original)
    if isinstance(kept, Report) and kept.reason == DISK_FULL:
        # No file's fault: all of the request can be sent again when there is room.
        raise storage.NoRoom(errno.ENOSPC, kept.detail)
    item = IngestionItem(
        run=run, path=file.name, line=file.line, described=description_to_dict(file.described)
    )
    if isinstance(kept, Report):
        item.outcome, item.reason, item.detail = kept.outcome, kept.reason, kept.detail
    else:
        item.file_sha256 = kept
    return item


def _keep_original(entry: Entry) -> str:
    """Store the file under its hash and return that; raise `ParseFailure` for one nobody could parse."""
    # The name that stands on the item decides later, so it has to decide now.
    of_name(PurePath(entry.name).name)
    size = entry.path.stat().st_size
    limit = settings.SCI_RAG_MAX_UPLOAD_MB
    if size > limit * 1_000_000:
        raise ParseFailure("too_large", f"The file has {size / 1e6:,.1f} MB; the limit is {limit:,} MB.")
    file_sha256 = storage.hash_file(entry.path)
    storage.store(entry.path, file_sha256)
    return file_sha256
