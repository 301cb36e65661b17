"""Embargoes: a document is restricted until a day. Then a person is asked; nothing opens by itself."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pghistory
from django.db import transaction
from django.db.models import DateField, Exists, OuterRef
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils import timezone

from corpus.actions import license_suggestions, review, rights
from corpus.actions.rights import Change, RightsError
from corpus.curation import ReviewItem
from corpus.models import Document
from corpus.rights import LicenseClass, raises

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# One sweep; what is left has its turn at the next.
MOST_AT_ONCE = 1_000


@transaction.atomic
def embargo(*, document: Document, until: date, by: User, reason: str) -> bool:
    """Keep `document` restricted until `until`; return whether that is new.

    A class that allows more is lowered. Raises `RightsError` without a reason or for a day that has
    passed, `rights.NotAllowed` when the document is not `by`'s to change.
    """
    said = _said(reason)
    if until <= timezone.localdate():
        raise RightsError("An embargo ends on a day to come.")
    (row,) = rights.locked([document.pk])
    if row.embargoed_until == until and row.license_class == LicenseClass.RESTRICTED:
        rights.require_may_change([row], by=by)
        return False
    change = Change(LicenseClass.RESTRICTED, f"Embargo until {until:%Y-%m-%d}")
    rights.decide(rows=[row], changes={row.pk: change}, by=by, note=said)
    _set(document, until, by, said)
    return True


@transaction.atomic
def lift(*, document: Document, by: User, reason: str) -> bool:
    """Take the day away; the class stays as it is. Return whether there was one. Raises as `embargo` does."""
    said = _said(reason)
    (row,) = rights.locked([document.pk])
    rights.require_may_change([row], by=by)
    if row.embargoed_until is None:
        return False
    before = LicenseClass(row.license_class)
    change = Change(before, f"Embargo until {row.embargoed_until:%Y-%m-%d} lifted")
    rights.decide(rows=[row], changes={row.pk: change}, by=by, note=said)
    _set(document, None, by, said)
    return True


@transaction.atomic
def declare(*, document: Document, until: date, process: str, signal: str) -> bool:
    """Let software apply an embargo that keeps `document` closed for longer; return whether it does.

    A class that allows more is lowered. An embargo that ends earlier is a person's to shorten.
    """
    (row,) = rights.locked([document.pk])
    if until <= max(timezone.localdate(), row.embargoed_until or date.min):
        return False
    if raises(LicenseClass.RESTRICTED, LicenseClass(row.license_class)):
        rights.lower_license(
            document=document, license_class=LicenseClass.RESTRICTED, process=process, signal=signal
        )
    with pghistory.context(process=process, reason=f"Embargo until {until:%Y-%m-%d}"):
        Document.objects.filter(pk=document.pk).update(embargoed_until=until, updated_at=timezone.now())
    document.refresh_from_db(fields=["embargoed_until", "license_class"])
    return True


def raise_due(*, today: date | None = None) -> int:
    """Ask a person about every document whose day has come; return how many were asked about now.

    Once for each document and day, however often this runs and whatever was answered.
    """
    day = today or timezone.localdate()
    about_day = Cast(KeyTextTransform("until", "suggestion"), DateField())
    asked = ReviewItem.objects.annotate(day=about_day).filter(
        document=OuterRef("pk"), kind=ReviewItem.Kind.EMBARGO_OVER, day=OuterRef("embargoed_until")
    )
    due = Document.objects.filter(~Exists(asked), embargoed_until__lte=day)
    return sum(_ask(document) for document in due.order_by("embargoed_until", "id")[:MOST_AT_ONCE])


def _ask(document: Document) -> bool:
    read = license_suggestions.reading_of([document.license_source, document.rights_statement])
    if read is None or not read[0].is_open:
        suggested, signal, words = None, "", "Its own words establish no class."
    else:
        suggested, signal = read[0].license_class, read[1][: license_suggestions.LONGEST_QUOTE]
        words = read[0].reason
    item = review.suggest_after_embargo(
        document=document, license_class=suggested, signal=signal, reason=f"The embargo ended. {words}"
    )
    return item is not None


def _said(reason: str) -> str:
    if not reason.strip():
        raise RightsError("Say why, for whoever reads the log later.")
    return reason.strip()


def _set(document: Document, until: date | None, by: User, reason: str) -> None:
    with pghistory.context(user=by.pk, reason=reason):
        Document.objects.filter(pk=document.pk).update(embargoed_until=until, updated_at=timezone.now())
    document.refresh_from_db(fields=["embargoed_until", "license_class"])
