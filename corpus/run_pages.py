"""What the pages of ingestion runs read: how far a run is, and what became of each file."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Avg, Count, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from corpus import ceilings, jobs
from corpus.actions.runs import is_for_workers
from corpus.models import IngestionItem, IngestionRun, Job

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django_stubs_ext import StrOrPromise

PERMISSION = "corpus.view_ingestionrun"
Outcome = IngestionItem.Outcome
State = IngestionRun.State

_STEPS: dict[tuple[str, str], StrOrPromise] = {
    ("parse", "queued"): _("Waiting"),
    ("parse", "running"): _("Being read"),
    ("embed", "queued"): _("Read, waiting to be embedded"),
    ("embed", "running"): _("Being embedded"),
}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is, counting the files its viewer may know of."""

    run: IngestionRun
    counts: dict[str, int]
    elapsed: timedelta
    rest: timedelta | None
    is_finishing: bool
    retryable: int
    can_be_steered: bool

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def ended(self) -> int:
        return self.total - self.counts.get(Outcome.WAITING, 0)

    @property
    def is_running(self) -> bool:
        return self.run.state == State.RUNNING

    @property
    def parts(self) -> list[tuple[str, StrOrPromise, int]]:
        """Each outcome that occurs, with its words and how many files have it."""
        return [(item.value, item.label, self.counts[item]) for item in Outcome if self.counts.get(item)]


@dataclass(frozen=True, slots=True)
class Row:
    """One file of a run as the page shows it."""

    item: IngestionItem
    step: StrOrPromise

    @property
    def tone(self) -> str:
        tones = {Outcome.READY: "good", Outcome.NEEDS_OCR: "caution", Outcome.FAILED: "danger"}
        return tones.get(Outcome(self.item.outcome), "plain")


def runs(user: User) -> QuerySet[IngestionRun]:
    """Return all runs, the newest first, with the counts of the files `user` may know of."""
    visible = IngestionItem.objects.filter(_known_to(user)).order_by().values("pk")
    counted = {
        f"count_{outcome}": Count("items", filter=Q(items__outcome=outcome, items__in=visible))
        for outcome in Outcome.values
    }
    found = IngestionRun.objects.select_related("started_by").annotate(**counted)
    return found.order_by("-started_at", "id")


def parts_of(run: IngestionRun) -> list[tuple[str, StrOrPromise, int]]:
    """Return each outcome that occurs in a run of `runs`, with its words and how many files have it."""
    counts = [(item, getattr(run, f"count_{item.value}", 0)) for item in Outcome]
    return [(item.value, item.label, count) for item, count in counts if count]


def find(run_id: uuid.UUID) -> IngestionRun | None:
    """Return a run, None when there is none."""
    return IngestionRun.objects.select_related("started_by").filter(pk=run_id).first()


def progress(run: IngestionRun, user: User, *, now: datetime | None = None) -> Progress:
    """Return how far `run` is."""
    items = _visible(run, user)
    counts = dict(items.order_by().values_list("outcome").annotate(n=Count("id")))
    waiting = counts.get(Outcome.WAITING, 0)
    steered = is_for_workers(run)
    end = run.finished_at or now or timezone.now()
    is_running = run.state == State.RUNNING
    undone = counts.get(Outcome.FAILED, 0) + (0 if is_running else waiting)
    return Progress(
        run=run,
        counts=counts,
        elapsed=_whole_seconds(end - run.started_at),
        rest=_rest(run, items, waiting) if is_running and waiting else None,
        is_finishing=is_running and not waiting and bool(counts),
        retryable=_retryable(run) if steered and undone else 0,
        can_be_steered=steered,
    )


def told(run_id: uuid.UUID, user: User) -> dict[str, Any] | None:
    """Return what `user` may be told of a run in numbers; None for who may not see runs, or none there is."""
    run = find(run_id)
    if run is None or not user.has_perm(PERMISSION):
        return None
    counted = progress(run, user)
    return {"run": str(run.pk), "state": run.state, "files": counted.total, "outcomes": counted.counts}


def rows(run: IngestionRun, user: User, *, outcome: str = "") -> QuerySet[IngestionItem]:
    """Return the files of `run` in order, with the step each is at; of one outcome when it is given."""
    open_jobs = Job.objects.filter(item=OuterRef("pk"), state__in=jobs.OPEN_STATES)
    at_hand = open_jobs.order_by("-created_at", "id")
    found = (
        _visible(run, user)
        .select_related("document")
        .annotate(
            job_kind=Subquery(at_hand.values("kind")[:1]), job_state=Subquery(at_hand.values("state")[:1])
        )
    )
    return (found.filter(outcome=outcome) if outcome else found).order_by("id")


def as_row(item: IngestionItem, run: IngestionRun) -> Row:
    """Return what the page says of a file: its outcome, or the step it is at."""
    if item.outcome != Outcome.WAITING:
        return Row(item, Outcome(item.outcome).label)
    step = _STEPS.get((getattr(item, "job_kind", ""), getattr(item, "job_state", "")))
    if step is None:
        step = _("Waiting") if run.state == State.RUNNING else _("Not begun")
    return Row(item, step)


def _visible(run: IngestionRun, user: User) -> QuerySet[IngestionItem]:
    return IngestionItem.objects.filter(_known_to(user), run=run)


def _known_to(user: User) -> Q:
    """Return the condition on files that `user` may know of, among them those of no document they sent."""
    known = ceilings.about_covered_documents(user, lookup="document")
    if ceilings.is_narrowed(user):
        return known
    return known | Q(document__isnull=True, run__started_by=user)


def _retryable(run: IngestionRun) -> int:
    busy = Job.objects.filter(run=run, state__in=jobs.OPEN_STATES, item__isnull=False).values("item_id")
    again = Job.objects.filter(
        run=run, kind=Job.Kind.PARSE, item__outcome__in=[Outcome.FAILED, Outcome.WAITING]
    )
    return again.exclude(item_id__in=busy).count()


def _rest(run: IngestionRun, items: QuerySet[IngestionItem], waiting: int) -> timedelta | None:
    """Estimate the time left from what the files so far took and how many are worked on at once."""
    typical = items.exclude(outcome=Outcome.WAITING).aggregate(mean=Avg("seconds"))["mean"]
    if typical is None:
        return None
    at_once = max(1, Job.objects.filter(run=run, state=Job.State.RUNNING).count())
    return _whole_seconds(timedelta(seconds=typical * waiting / at_once))


def _whole_seconds(span: timedelta) -> timedelta:
    return timedelta(seconds=max(0, round(span.total_seconds())))
