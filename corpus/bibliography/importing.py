"""Importing a library: its files through the ingestion, its works into the registry, everything else told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.bibliography import works
from corpus.bibliography.planning import Plan, plan
from corpus.bibliography.reading import read
from corpus.bibliography.works import Registered
from corpus.ingestion import ingest, rehearse
from corpus.intake import Options
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
    run = ingest(found.batch, options=options, by=by, progress=progress)
    for record, report in zip(found.records, run.reports, strict=True):
        identifier = record.identifier
        if report.document is not None and identifier is not None and identifier.kind != "doi":
            works.hold(document_id=report.document, identifier=identifier)
    return ImportReport(found, registered, run)
