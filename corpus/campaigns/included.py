"""Who is in: what screening let through. The build asks here and nowhere else."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q, QuerySet

from corpus.campaigns.models import Campaign, Candidate
from corpus.campaigns.screening_models import ScreeningRound, Verdict
from corpus.campaigns.text_models import FullText

# A place that was looked up is asked for again after this.
FRESH = timedelta(days=30)
LOOKUP_FAILED = "lookup_failed"
# Refusals of a host that may be another thing the next time.
PASSING = ("timeout", "unreachable", "truncated", "rate_limited", "unavailable", "held_back")


def current_round(campaign: Campaign) -> ScreeningRound | None:
    """Return the round that counts, None before the first."""
    return campaign.rounds.order_by("-number", "-id").first()


def included(campaign: Campaign) -> QuerySet[Candidate]:
    """Return the candidates that are included by the criteria of now; none before there are any."""
    last = current_round(campaign)
    rows = Candidate.objects.filter(screenings__round=last, screenings__verdict=Verdict.INCLUDE)
    return (rows if last is not None else Candidate.objects.none()).order_by("number", "id")


def unresolved(campaign: Campaign, *, since: datetime, again: bool = False) -> QuerySet[Candidate]:
    """Return the included works of which it is not known, or not any more, where their text may be had.

    `since` is when the run began: what it looked up itself is not looked up again. `again` asks once more for
    all that was refused. What was fetched is not asked for again.
    """
    refused = Q(full_text__state=FullText.State.REFUSED)
    failed = refused if again else Q(full_text__code=LOOKUP_FAILED)
    old = Q(full_text__resolved_at__lt=since - FRESH) & ~Q(full_text__state=FullText.State.FETCHED)
    asked = Q(full_text__isnull=True) | old | (failed & Q(full_text__resolved_at__lt=since))
    return included(campaign).filter(asked)


def fetchable(campaign: Campaign, *, run: UUID) -> QuerySet[Candidate]:
    """Return the included works whose text may be fetched now.

    Those that failed in passing are among them, unless they failed in this very run.
    """
    refused = Q(full_text__state=FullText.State.REFUSED, full_text__code__in=PASSING)
    passing = refused & ~Q(full_text__places=[]) & ~Q(full_text__attempts__contains=[{"run": str(run)}])
    return included(campaign).filter(Q(full_text__state=FullText.State.RESOLVED) | passing)


def not_taken_in(campaign: Campaign) -> QuerySet[Candidate]:
    """Return the included works whose file is there and was not handed to the corpus."""
    return included(campaign).filter(full_text__state=FullText.State.FETCHED, full_text__item__isnull=True)
