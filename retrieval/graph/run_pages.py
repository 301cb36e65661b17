"""What the pages of extraction runs read: how far a run is, what it found and what it left out."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from corpus import ceilings
from corpus.scope import EVERYTHING
from retrieval.graph.extraction.types import Drop
from retrieval.graph.models import ExtractionRun

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django_stubs_ext import StrOrPromise

PERMISSION = "corpus.view_ingestionrun"
State = ExtractionRun.State

_REASONS: dict[str, StrOrPromise] = {
    Drop.NO_PASSAGE: _("Named no passage of the batch"),
    Drop.MALFORMED: _("Not as it was asked for"),
    Drop.TOO_MANY: _("More than a passage can hold"),
    Drop.EMPTY_NAME: _("A name without a letter or digit"),
    Drop.UNKNOWN_TYPE: _("A type that the ontology does not know"),
    Drop.WRONG_ENDS: _("A relation between types that it does not join"),
    Drop.UNVERIFIED_MENTION: _("A name that does not stand in its passage"),
    Drop.UNVERIFIED_ALIAS: _("Another spelling that does not stand in its passage"),
    Drop.UNVERIFIED_DESCRIPTION: _("A description that does not stand in its passage"),
    Drop.UNVERIFIED_QUOTE: _("A quotation that does not stand in its passage"),
    Drop.DANGLING_END: _("A relation with something the passage does not name"),
    Drop.SELF_EDGE: _("A relation of something with itself"),
    Drop.MISSING_CONFIDENCE: _("A relation without a confidence"),
}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    run: ExtractionRun
    elapsed: timedelta
    rest: timedelta | None

    @property
    def is_running(self) -> bool:
        """Whether more is to come."""
        return self.run.state == State.RUNNING

    @property
    def is_waiting(self) -> bool:
        """Whether no worker has taken it up, or the last one let it go."""
        return self.is_running and self.run.is_for_workers and self.run.touched_at is None

    @property
    def dropped(self) -> list[tuple[str, StrOrPromise, int]]:
        """What was left out, the most frequent reason first: its code, its words, how often."""
        counts = sorted(self.run.dropped.items(), key=lambda item: (-item[1], item[0]))
        return [(reason, _REASONS.get(reason, reason.replace("_", " ")), count) for reason, count in counts]


def may_look(user: User) -> bool:
    """Whether `user` may see runs: their numbers are about the whole corpus, so a ceiling must cover it."""
    return user.has_perm(PERMISSION) and ceilings.of(user) == EVERYTHING


def runs() -> QuerySet[ExtractionRun]:
    """Return all runs, the newest first."""
    return ExtractionRun.objects.select_related("started_by").order_by("-started_at", "id")


def find(run_id: uuid.UUID) -> ExtractionRun | None:
    """Return a run, None when there is none."""
    return runs().filter(pk=run_id).first()


def progress(run: ExtractionRun, *, now: datetime | None = None) -> Progress:
    """Return how far `run` is; the rest is estimated from the passages so far."""
    elapsed = (run.finished_at or now or timezone.now()) - run.started_at
    left = run.passages - run.passages_done
    rest = None
    if run.state == State.RUNNING and run.passages_done and left > 0:
        rest = _whole_seconds(elapsed * left / run.passages_done)
    return Progress(run, _whole_seconds(elapsed), rest)


def _whole_seconds(span: timedelta) -> timedelta:
    return timedelta(seconds=max(0, round(span.total_seconds())))
