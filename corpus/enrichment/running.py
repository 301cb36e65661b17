"""Asking Crossref about the works that are due, one after the other, each recorded before the next.

What was checked well is not asked again for thirty days, so a run that ended early is continued by running
again. No database connection is held while Crossref is asked.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

import structlog
from django.db import DataError, IntegrityError
from django.utils import timezone

from corpus.actions import enrichment
from corpus.enrichment import planning
from corpus.gateways.crossref import Crossref, CrossrefError, Work
from corpus.gateways.http import Outbound, contact
from corpus.models import Source

logger = structlog.get_logger(__name__)

ATTEMPTS = 3
PAUSE_SECONDS = 0.5
# So many works in a row that could not be asked about: Crossref is down, or we are.
MOST_FAILURES_IN_A_ROW = 10


class Progress(Protocol):
    """Who watches a run."""

    def begin(self, total: int) -> None:
        """Learn how many works are due."""

    def advance(self) -> None:
        """Learn that one more is done."""


@dataclass(slots=True)
class Enriched:
    """What a run came to. `stopped` says why it ended early: provider_down, held_back, time."""

    due: int = 0
    checked: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    stopped: str = ""

    @property
    def is_lost(self) -> bool:
        """Whether nothing came of it though something was due."""
        return self.due > 0 and self.checked == 0


def plan(*, limit: int | None = None, force: bool = False, patient: bool = False) -> list[Source]:
    """Return the works a run would ask about, in order. Asks nobody, writes nothing."""
    return list(planning.due(now=timezone.now(), force=force, patient=patient)[:limit])


def run(
    *,
    limit: int | None = None,
    force: bool = False,
    patient: bool = False,
    seconds: float | None = None,
    progress: Progress | None = None,
    crossref: Crossref | None = None,
) -> Enriched:
    """Check the works that are due, `seconds` long at most. Raises `ContactMissing` before anything else.

    For `force` and `patient` see `planning.due`.
    """
    if crossref is None:
        with Outbound(contact=contact()) as outbound:
            return run(
                limit=limit,
                force=force,
                patient=patient,
                seconds=seconds,
                progress=progress,
                crossref=Crossref(outbound),
            )
    ids = [source.pk for source in plan(limit=limit, force=force, patient=patient)]
    report = Enriched(due=len(ids))
    if progress is not None:
        progress.begin(len(ids))
    _check_all(ids, report, crossref, force, patient, seconds, progress)
    logger.info(
        "enrichment.ended",
        due=report.due,
        checked=report.checked,
        failed=report.failed.total(),
        stopped=report.stopped,
    )
    return report


def check(sources: Sequence[Source], *, crossref: Crossref | None = None) -> Enriched:
    """Ask about `sources` now, due or not and held or not; those without a DOI are left out.

    Raises `ContactMissing` before anything else.
    """
    if crossref is None:
        with Outbound(contact=contact()) as outbound:
            return check(sources, crossref=Crossref(outbound))
    wanted = [source for source in sources if source.identifier_type == Source.IdentifierType.DOI]
    report = Enriched(due=len(wanted))
    for source in wanted:
        error = _check(source, report, crossref)
        if error is not None and error.code == "held_back":
            report.stopped = "held_back"
            break
    return report


def _check_all(
    ids: Sequence[UUID],
    report: Enriched,
    crossref: Crossref,
    force: bool,  # noqa: FBT001 - handed on
    patient: bool,  # noqa: FBT001
    seconds: float | None,
    progress: Progress | None,
) -> None:
    until = None if seconds is None else time.monotonic() + seconds
    in_a_row = 0
    for identifier in ids:
        if until is not None and time.monotonic() > until:
            report.stopped = "time"
            return
        # Another run may have been here since the plan was made.
        still_due = planning.due(now=timezone.now(), force=force, patient=patient)
        source = still_due.filter(pk=identifier).first()
        error = None if source is None else _check(source, report, crossref)
        if error is not None and error.code == "held_back":
            report.stopped = "held_back"
            return
        in_a_row = in_a_row + 1 if error is not None and error.passes else 0
        if in_a_row == MOST_FAILURES_IN_A_ROW:
            report.stopped = "provider_down"
            return
        if progress is not None:
            progress.advance()


def _check(source: Source, report: Enriched, crossref: Crossref) -> CrossrefError | None:
    """Ask about one work and record what came of it; return the error there was."""
    try:
        work = _asked(crossref, source.identifier_value)
        report.done.update(enrichment.apply_work(source=source, work=work, at=timezone.now()))
    except CrossrefError as error:
        if error.code != "held_back":
            _record_failure(source, error.code, report)
        return error
    except (DataError, IntegrityError) as error:
        logger.warning("enrichment.not_stored", error=type(error).__name__)
        _record_failure(source, "not_stored", report)
    except Source.DoesNotExist:
        logger.info("enrichment.source_gone")
    else:
        report.checked += 1
    return None


def _asked(crossref: Crossref, doi: str) -> Work:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return crossref.work(doi)
        except CrossrefError as error:
            if not error.passes or attempt == ATTEMPTS:
                raise
        time.sleep(PAUSE_SECONDS * 2 ** (attempt - 1))
    raise AssertionError("unreachable")


def _record_failure(source: Source, reason: str, report: Enriched) -> None:
    try:
        enrichment.record_failure(source=source, reason=reason, at=timezone.now())
    except Source.DoesNotExist:
        return
    report.failed[reason] += 1
