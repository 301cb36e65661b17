"""Which works an index is to be asked about, and in which order."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import reduce
from operator import or_

from django.db.models import Exists, F, FilteredRelation, OuterRef, Q, QuerySet

from corpus.enrichment.records import SourceCheck
from corpus.models import Document, Source

FRESH = timedelta(days=30)
# By the clock a failed check is repeated after an hour, and where another try will hardly help, in a week.
_SOON, _LATER = timedelta(hours=1), timedelta(days=7)
HOPELESS = ("not_found", "rejected", "wrong_work", "too_large")
# Conditions on works that are checked though nothing of them is held; the apps above add theirs.
followed: list[Q] = []


def due(*, now: datetime, force: bool = False, patient: bool = False) -> QuerySet[Source]:
    """Return the held or followed works with a DOI that are to be checked, the most urgent first.

    A good check counts for thirty days; a failed one counts for nothing. `force` asks about all of them;
    `patient` leaves those alone whose check failed a short while ago.
    """
    counts = reduce(or_, followed, Q(Exists(Document.objects.filter(source=OuterRef("pk")))))
    rows = Source.objects.filter(counts, identifier_type=Source.IdentifierType.DOI).annotate(
        check_row=FilteredRelation("checks", condition=Q(checks__provider=SourceCheck.Provider.CROSSREF))
    )
    if not force:
        fresh = Q(check_row__outcome=SourceCheck.Outcome.GOOD, check_row__last_good_at__gt=now - FRESH)
        rows = rows.filter(Q(check_row__isnull=True) | Q(check_row__asked_for_at__isnull=False) | ~fresh)
    if patient:
        failed = Q(check_row__outcome=SourceCheck.Outcome.FAILED)
        recently = Q(check_row__checked_at__gt=now - _SOON) | Q(
            check_row__reason__in=HOPELESS, check_row__checked_at__gt=now - _LATER
        )
        rows = rows.filter(
            Q(check_row__isnull=True) | Q(check_row__asked_for_at__isnull=False) | ~(failed & recently)
        )
    return rows.order_by(
        F("check_row__asked_for_at").asc(nulls_last=True),
        F("check_row__last_good_at").asc(nulls_first=True),
        F("check_row__checked_at").asc(nulls_first=True),
        "id",
    )
