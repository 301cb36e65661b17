"""Importing a library: its files through the ingestion, its works into the registry, everything else told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.bibliography import works
from corpus.bibliography.planning import Plan, plan
from corpus.bibliography.reading import read
from corpus.bibliography.works import Registered
from corpus.enqueueing import enqueue_files, plan_run
from corpus.ingestion import default_options, ingest, rehearse
from corpus.intake import Options
from corpus.manifest import Entry
from corpus.models import IngestionRun
from corpus.reports import Progress, RunReport

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class NothingRead(ValueError):
    """The library holds no record that can be read. The message says why."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or would do. Without files there is no run."""

    plan: Plan
    works: Registered
    run: RunReport | None

    @property
    def is_lost(self) -> bool:
        """Whether nothing of the library is in the corpus or its registry now."""
        return (self.run is None or self.run.is_lost) and not self.plan.works


def import_library(
    path: Path,
    *,
    options: Options | None = None,
    encoding: str = "",
    by: User | None = None,
    progress: Progress | None = None,
    dry_run: bool = False,
) -> ImportReport:
    """Import the library at `path`; importing it again changes nothing but the list of runs.

    Its files go the way of a manifest's, with what the records say about them. Rights stay unknown: what
    a record declares is kept as the signal. Raises `NothingRead`, and `EmbeddingError` as `ingest` does.
    """
    found = plan(path, read(path, encoding=encoding))
    if not found.library.records:
        first = next(iter(found.problems), None)
        raise NothingRead(first.message if first is not None else f"{path.name} has no records.")
    registered = works.register(found.works, dry_run=dry_run)
    if not found.batch.files:
        return ImportReport(found, registered, None)
    if dry_run:
        return ImportReport(found, registered, rehearse(found.batch, options=options, progress=progress))
    return ImportReport(found, registered, ingest(found.batch, options=options, by=by, progress=progress))


def enqueue_library(planned: Plan, *, origin: str, bucket: str, by: User) -> IngestionRun | None:
    """Register the works of a library that was read and hand its files to the workers; return their run.

    None when there is no file to read: then what cannot be read is all there is to tell, and whoever asked
    has been told. Raises `EmbeddingError` when no file can be taken in at present; works are registered
    all the same, and doing it again changes nothing about them.
    """
    works.register(planned.works)
    files = planned.batch.files
    if not any(isinstance(file, Entry) for file in files):
        return None
    run = plan_run(origin=origin, by=by, options=default_options(bucket=bucket))
    enqueue_files(run=run, files=files)
    return run
