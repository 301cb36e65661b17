"""What of a sample one person may see, and what is left for them to do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Prefetch, Q, QuerySet

from answers.models import AnswerSource
from corpus import ceilings
from evaluation.calibration import standing
from evaluation.calibration.models import CalibrationItem, CalibrationLabel, CalibrationQueue
from evaluation.calibration.standing import Label
from evaluation.ground_truth.queries import known_questions
from evaluation.judging.rubric import DIMENSIONS
from evaluation.runs.models import EvaluationRun

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

LABELLING = "evaluation.add_calibrationlabel"


def label_of(row: CalibrationLabel) -> Label:
    """Return a stored label as the rules read it."""
    grades = {} if row.skipped else {name: getattr(row, name) for name in DIMENSIONS}
    return Label(row.labeller_name, row.is_expert, row.is_adjudication, grades)


def visible_items(user: User | AnonymousUser) -> QuerySet[CalibrationItem]:
    """Return the items whose question and every source `user` may see, as they were when it was answered.

    An item without one of its sources cannot be judged: it is not shown to anybody.
    """
    covered = ceilings.about_covered_documents(user, lookup="document")
    whole = Q(document__isnull=False, chunk__content_sha256=F("content_sha256"))
    sources = AnswerSource.objects.filter(answer=OuterRef("outcome__answer"))
    lacking = sources.exclude(pk__in=AnswerSource.objects.filter(whole).filter(covered).values("pk"))
    return CalibrationItem.objects.filter(
        ~Exists(lacking),
        outcome__answer__isnull=False,
        outcome__question__source__in=known_questions(user),
    )


def visible_queues(user: User | AnonymousUser) -> QuerySet[CalibrationQueue]:
    """Return the samples of which `user` may see an item, the newest first."""
    items = visible_items(user).filter(queue=OuterRef("pk"))
    queues = CalibrationQueue.objects.filter(Exists(items)).select_related("run")
    return queues.order_by("-created_at", "pk")


@dataclass(frozen=True, slots=True)
class Entry:
    """One item with its labels. `person` is whose desk it lies on."""

    item: CalibrationItem
    labels: tuple[Label, ...]
    person: str

    @property
    def is_done(self) -> bool:
        """Whether this person has graded or skipped it."""
        return any(label.labeller == self.person for label in self.labels)

    @property
    def is_wanted(self) -> bool:
        """Whether this person is to grade it or to decide."""
        return standing.wants(self.labels, self.person)

    @property
    def is_disputed(self) -> bool:
        """Whether others differ, so that this person's grades decide."""
        return standing.wants_adjudication(self.labels, self.person)


@dataclass(frozen=True)
class Desk:
    """What one person has done of a sample and what is left. It counts nothing that they may not see.

    Whoever has finished has seen what others gave, and is asked for nothing more.
    """

    entries: tuple[Entry, ...]
    is_finished: bool = False

    @cached_property
    def done(self) -> tuple[Entry, ...]:
        """What they graded or skipped."""
        return tuple(entry for entry in self.entries if entry.is_done)

    @cached_property
    def left(self) -> tuple[Entry, ...]:
        """What they are to do, in order; what others differ in comes last."""
        wanted = [entry for entry in self.entries if entry.is_wanted and not self.is_finished]
        return tuple(sorted(wanted, key=lambda entry: (entry.is_disputed, entry.item.number)))

    @property
    def total(self) -> int:
        """How many items there are for this person."""
        return len(self.done) + len(self.left)

    @property
    def next(self) -> CalibrationItem | None:
        """The item to do next."""
        return self.left[0].item if self.left else None

    def entry(self, item: UUID) -> Entry | None:
        """Return the entry of an item that is theirs to do or was; None for any other."""
        return next((each for each in (*self.done, *self.left) if each.item.pk == item), None)

    def place(self, entry: Entry) -> int:
        """Return which of theirs an entry is, counted from one."""
        return (*self.done, *self.left).index(entry) + 1


def desk(queue: CalibrationQueue, user: User) -> Desk:
    """Return what `user` has done of a sample and what is left for them."""
    name = user.get_username()
    rows = with_labels(visible_items(user).filter(queue=queue))
    entries = tuple(Entry(row, tuple(map(label_of, row.labels.all())), name) for row in rows)
    return Desk(entries, is_finished=has_finished(queue, user))


def blinding(run: EvaluationRun, user: User) -> CalibrationQueue | None:
    """Return a sample of `run` that `user` may still grade: until they have finished they stay blind."""
    if not user.has_perm(LABELLING):
        return None
    queues = visible_queues(user).filter(run=run)
    return next((queue for queue in queues if _may_grade(queue, user)), None)


def _may_grade(queue: CalibrationQueue, user: User) -> bool:
    found = desk(queue, user)
    return bool(found.total) and not found.is_finished


def has_finished(queue: CalibrationQueue, user: User) -> bool:
    """Say whether `user` has called their grades final."""
    return queue.finishes.filter(person_name=user.get_username()).exists()


def with_labels(items: QuerySet[CalibrationItem]) -> QuerySet[CalibrationItem]:
    """Return items in order with their labels."""
    labels = Prefetch("labels", queryset=CalibrationLabel.objects.order_by("labeller_name", "pk"))
    return items.prefetch_related(labels).order_by("number", "pk")
