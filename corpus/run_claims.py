"""Long runs that are rows: one process at a time carries each out, and is known by a token.

A claim is one statement, so that of two who try at once one gets the run. Its token stands on the row;
whoever writes for the run finds it there in the same transaction, or writes nothing. Time is the database's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from corpus import leases
from corpus.jobs import is_of_a_dead_process, this_worker
from corpus.usage.models import ClaimedRun

R = TypeVar("R", bound=ClaimedRun)

RUNNING = "running"
# Between its start and its claim a command's run is nobody's.
_JUST_BEGUN = timedelta(minutes=1)


class RunLost(RuntimeError):
    """Somebody else has taken the run over, or it has ended: what was about to be kept is not."""


def claim(model: type[R], run: UUID, *, for_workers: bool) -> R | None:
    """Take a run that nobody carries out; None when somebody does, or it has ended.

    What is returned has the token. A process of this machine that is gone holds nothing any more; another
    one is waited for until its lease runs out.
    """
    rows = model._default_manager.filter(pk=run, state=RUNNING, is_for_workers=for_workers)
    free = Q(touched_at__isnull=True) | _lapsed()
    holder = rows.values_list("held_by", flat=True).first()
    if holder and is_of_a_dead_process(holder):
        free |= Q(held_by=holder)
    is_ours = rows.filter(free).update(touched_at=Now(), claim=uuid4(), held_by=this_worker())
    return model._default_manager.get(pk=run) if is_ours else None


def held(run: R) -> QuerySet[R]:
    """Return the row of a run as long as the claim that `run` was returned with holds."""
    rows: QuerySet[R] = type(run)._default_manager.filter(pk=run.pk, claim=run.claim, state=RUNNING)
    return rows


def locked(model: type[R], run: UUID, claim: UUID | None) -> R:
    """Lock a run's row in the caller's transaction; raise `RunLost` unless it goes on under `claim`."""
    mine = model._default_manager.select_for_update().filter(pk=run, claim=claim, state=RUNNING)
    row = mine.first()
    if row is None:
        raise RunLost(f"Run {run} has ended, or somebody else carries it out.")
    return row


def renew(run: ClaimedRun) -> bool:
    """Show a sign of life; False when the claim holds no more."""
    return bool(held(run).update(touched_at=Now()))


def let_go(run: ClaimedRun) -> None:
    """Leave a run to the next who takes it; one that somebody else has taken meanwhile stays theirs."""
    held(run).update(touched_at=None, held_by="", claim=None)


@contextmanager
def holding(run: ClaimedRun) -> Iterator[None]:
    """Keep the claim as long as the block runs, whatever a model takes for one reply."""
    try:
        with leases.renewed(lambda: renew(run), run=str(run.pk)):
            yield
    finally:
        let_go(run)


def abandoned(model: type[R]) -> list[R]:
    """Return the runs of commands whose process is gone, the oldest first."""
    rows = model._default_manager.filter(state=RUNNING, is_for_workers=False).order_by("started_at", "pk")
    unclaimed = Q(touched_at__isnull=True, started_at__lt=Now() - _JUST_BEGUN)
    silent = set(rows.filter(_lapsed() | unclaimed).order_by().values_list("pk", flat=True))
    return [row for row in rows if row.pk in silent or is_of_a_dead_process(row.held_by)]


def _lapsed() -> Q:
    return Q(touched_at__lt=Now() - timedelta(seconds=settings.SCI_RAG_LEASE_SECONDS))
