"""What the pages of runs read: how far a run is, and what it found for one question."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from corpus import ceilings
from corpus.models import Chunk
from corpus.scope import RetrievalScope
from evaluation.runs.models import EvaluationRun, RetrievalOutcome, RunQuestion

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django_stubs_ext import StrOrPromise

# Codes of why a run has no numbers, in words.
REASONS: dict[str, StrOrPromise] = {
    "corpus_changed": _(
        "The corpus changed while it was asked: the numbers would mean nothing. Start it again."
    ),
    "questions_changed": _("A question changed while it was asked. Start it again."),
    "rights_changed": _("Whoever started it may not see any more what it searched."),
    "retrieval_failed": _("The database could not be read: no question was answered."),
    "not_configured": _(
        "The judge or the model is not what it began with, or is gone. An administrator can set it again."
    ),
}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is, and how long the rest may take."""

    run: EvaluationRun
    elapsed: timedelta
    rest: timedelta | None

    @property
    def is_running(self) -> bool:
        """Whether results are still to come."""
        return self.run.state == EvaluationRun.State.RUNNING

    @property
    def reason(self) -> StrOrPromise:
        """Return why a failed run has no numbers."""
        return REASONS.get(self.run.last_error_code, self.run.last_error_code.replace("_", " "))


def progress(run: EvaluationRun) -> Progress:
    """Return how far a run is; the rest is estimated from what is done."""
    until = run.finished_at or timezone.now()
    elapsed = timedelta(seconds=max(0, round((until - run.started_at).total_seconds())))
    left = run.planned - run.done
    rest = None
    if run.state == EvaluationRun.State.RUNNING and run.done and left:
        rest = timedelta(seconds=round(elapsed.total_seconds() / run.done * left))
    return Progress(run, elapsed, rest)


def asked(run: EvaluationRun) -> QuerySet[RunQuestion]:
    """Return the questions of a run that it has something to show for, in order."""
    rows = run.questions.order_by("number", "pk")
    # What the corpus does not hold is answered with a refusal, and looked for by nobody.
    return rows if run.kind == EvaluationRun.Kind.ANSWERS else rows.filter(unanswerable=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """One passage that was found. Without a passage it is not held any more, or not for this reader."""

    rank: int
    passage: Chunk | None
    ranks: Mapping[str, int]
    is_relevant: bool
    is_of_reference: bool


@dataclass(frozen=True, slots=True)
class Looked:
    """What one configuration did for one question."""

    outcome: RetrievalOutcome
    entries: list[Entry]
    stages: dict[str, dict[str, Any]]


def looked(question: RunQuestion, configuration: str, *, by: User) -> Looked | None:
    """Return what a configuration found for a question; None when it was not asked."""
    outcome = (
        question.outcomes.filter(configuration__name=configuration).select_related("configuration").first()
    )
    if outcome is None:
        return None
    ids = [uuid.UUID(row["passage"]) for row in outcome.found]
    visible = Chunk.objects.within(ceilings.effective_scope(by, RetrievalScope()))
    passages = {
        chunk.public_id: chunk for chunk in visible.filter(public_id__in=ids).select_related("document")
    }
    entries = [
        Entry(
            rank=rank,
            passage=passages.get(uuid.UUID(row["passage"])),
            ranks=row["ranks"],
            is_relevant=row["has_phrase"],
            is_of_reference=bool(row["reference"]),
        )
        for rank, row in enumerate(outcome.found, start=1)
    ]
    return Looked(outcome, entries, dict(sorted(outcome.stages.items())))
