"""Keeping what an extractor found, and the record of a run.

A run that somebody carries out is written under that claim: whoever lost it raises `RunLost`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from corpus import run_claims
from corpus.usage import capping
from corpus.usage.budget import Cap
from corpus.webhooks import actions as webhooks
from corpus.webhooks.events import Event
from retrieval.graph import storing, telling
from retrieval.graph.extraction.types import Drops, Verified
from retrieval.graph.models import ExtractionRun
from retrieval.graph.storing import Added, Placing

if TYPE_CHECKING:
    from django.contrib.auth.models import User

State = ExtractionRun.State
ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True)
class Kept:
    """What came of a batch: how many passages are read, and what was new."""

    passages: int
    added: Added


def start(
    *,
    extractor: str,
    passages: int,
    parameters: dict[str, Any],
    is_for_workers: bool = False,
    cap: Cap | None = None,
    by: User | None = None,
) -> ExtractionRun:
    """Record a run, and the cap it stops at."""
    return ExtractionRun.objects.create(
        extractor=extractor,
        passages=passages,
        parameters=parameters,
        is_for_workers=is_for_workers,
        started_by=by,
        **capping.fields_of(cap or Cap()),
    )


@transaction.atomic
def keep(
    *, run: UUID, extractor: str, verified: Sequence[Verified], dropped: Drops, claim: UUID | None = None
) -> Kept:
    """Store what stands in the passages and stamp them, in one transaction; return what was new.

    Passages that went or changed meanwhile are left out. The same batch again changes nothing. Raises
    `RunLost`.
    """
    there = storing.present([page.passage.chunk for page in verified])
    pages = [
        page
        for page in verified
        if page.passage.chunk in there and there[page.passage.chunk][1] == page.passage.content_sha256
    ]
    documents = {chunk: document for chunk, (document, _) in there.items()}
    added = _store(pages, documents)
    storing.stamp(pages, extractor=extractor)
    # Last, as extraction locks entities before runs: a claim that is lost takes all of this back.
    row = run_claims.locked(ExtractionRun, run, claim)
    _count(row, len(pages), added, dropped)
    return Kept(len(pages), added)


def _store(pages: Sequence[Verified], documents: dict[int, UUID]) -> Added:
    # Of spellings that differ in case alone, the same one whatever the order.
    named: dict[tuple[str, str], str] = {}
    for page in pages:
        for found in page.entities:
            identity = (found.type, found.key)
            named[identity] = max(found.name, named.get(identity, ""))
    if not named:
        return Added()
    rows, new = storing.entities(named)
    senses = storing.senses(rows, {page.passage.chunk: page.passage.content_sha256 for page in pages})
    placing = Placing(rows, senses)
    mentions = storing.mentions(pages, documents, placing)
    storing.descriptions(pages, documents, placing)
    relationships = storing.relationships(pages, documents, placing)
    storing.names({row.id for row in (*rows, *senses.values())})
    return Added(new, mentions, relationships)


def _count(row: ExtractionRun, passages: int, added: Added, dropped: Drops) -> None:
    row.passages_done += passages
    row.batches_done += 1
    row.entities_added += added.entities
    row.mentions_added += added.mentions
    row.relationships_added += added.relationships
    row.dropped = dict(
        sorted((Counter(row.dropped) + Counter({reason.value: n for reason, n in dropped.items()})).items())
    )
    row.touched_at = Now()
    row.save()


@transaction.atomic
def count_failure(*, run: UUID, code: str, claim: UUID | None = None) -> None:
    """Note a batch that could not be read. Raises `RunLost`."""
    row = run_claims.locked(ExtractionRun, run, claim)
    row.batches_failed += 1
    row.last_error_code = code[:60]
    row.touched_at = Now()
    row.save()


@transaction.atomic
def finish(*, run: UUID, claim: UUID | None = None) -> ExtractionRun:
    """End a run: failed when batches failed and none was read. One that is not ours stays as it is."""
    row = ExtractionRun.objects.select_for_update().get(pk=run)
    if row.state == State.RUNNING and row.claim == claim:
        row.state = State.FAILED if row.batches_failed and not row.batches_done else State.FINISHED
        row.finished_at = Now()
        row.save()
        _announce(run)
        row.refresh_from_db()
    return row


@transaction.atomic
def fail(*, run: UUID, code: str, claim: UUID | None = None) -> bool:
    """End a run that something unforeseen stopped; False when it is not ours any more."""
    running = ExtractionRun.objects.filter(pk=run, state=State.RUNNING, claim=claim)
    has_failed = bool(running.update(state=State.FAILED, finished_at=Now(), last_error_code=code[:60]))
    if has_failed:
        _announce(run)
    return has_failed


def stop_at_the_cap(*, run: UUID, claim: UUID | None = None) -> None:
    """Let a run rest that has used what it may: it goes on when its cap is raised."""
    ExtractionRun.objects.filter(pk=run, state=State.RUNNING, claim=claim).update(
        state=State.CAPPED, finished_at=Now(), touched_at=None
    )


def close_abandoned() -> int:
    """End runs of commands whose process is gone; return how many. What they read stays, and resumes."""
    dead = run_claims.abandoned(ExtractionRun)
    return sum(fail(run=row.pk, code=ABANDONED, claim=row.claim) for row in dead)


class CannotResume(ValueError):
    """A run that neither stopped at its cap nor was abandoned, or has reached the new cap already.

    The message says which.
    """


@transaction.atomic
def resume(*, run: UUID, cap: Cap) -> ExtractionRun:
    """Let a run go on that stopped at its cap, under a higher one, or whose process was killed.

    One that was killed keeps its cap unless `cap` names another. Raises `CannotResume`.
    """
    row = ExtractionRun.objects.select_for_update().filter(pk=run).first()
    if row is None or not (row.state == State.CAPPED or _was_abandoned(row)):
        raise CannotResume(f"There is no run {run} that stopped at its cap or whose process is gone.")
    if row.state == State.CAPPED or cap != Cap():
        row.max_tokens, row.max_cost_usd = cap.max_tokens, cap.max_cost_usd
    if reached := capping.budget_of(row).reached:
        raise CannotResume(f"Under this cap run {run} cannot go on: {reached}.")
    row.state, row.finished_at, row.last_error_code = State.RUNNING, None, ""
    row.touched_at, row.held_by, row.claim = None, "", None
    row.save()
    return row


def _was_abandoned(row: ExtractionRun) -> bool:
    return row.state == State.FAILED and row.last_error_code == ABANDONED


def _announce(run: UUID) -> None:
    webhooks.announce(event=Event.RUN_FINISHED, kind=telling.KIND, subject=run)
