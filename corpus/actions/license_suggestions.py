"""Suggesting the class that a document's own words establish. Nothing is given by software."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from corpus.actions import review
from corpus.curation import ReviewItem
from corpus.licensing import LicenseReading, normalise
from corpus.licensing.readings import strictest
from corpus.models import Document
from corpus.rights import LABELS, LicenseClass

# What is quoted to the person who decides, and becomes the evidence when they accept.
LONGEST_QUOTE = 4_000


def reading_of(signals: Iterable[str]) -> tuple[LicenseReading, str] | None:
    """Return what `signals` establish together and the one it rests on; None where they establish nothing.

    The strictest counts. Signals of which one opens the text and another reserves it establish nothing.
    """
    read = [(normalise(signal), signal.strip()) for signal in dict.fromkeys(signals) if signal.strip()]
    known = [(reading, signal) for reading, signal in read if reading.is_known]
    if not known or len({reading.is_open for reading, _ in known}) > 1:
        return None
    together = strictest(reading for reading, _ in known)
    quoted = next(text for reading, text in known if reading.license_class is together.license_class)
    return together, quoted


@transaction.atomic
def suggest(document: Document, *, signals: Iterable[str] = ()) -> ReviewItem | None:
    """Open a suggestion of the class that the document's statements, or `signals`, establish.

    Only for a document whose rights nobody has decided on. None where nothing is established, or the
    same was suggested before. Limits are not left to a suggestion: the NoDerivatives flag is set.
    """
    if document.license_class != LicenseClass.UNKNOWN or document.rights_decisions.exists():
        return None
    given = [*signals] or [document.license_source, document.rights_statement]
    found = reading_of(given)
    if found is None:
        return None
    reading, quoted = found
    if reading.no_derivatives and not document.no_derivatives:
        Document.objects.filter(pk=document.pk).update(no_derivatives=True)
        document.no_derivatives = True
    label = LABELS[reading.license_class]
    return review.suggest_license(
        document=document,
        license_class=reading.license_class,
        signal=quoted[:LONGEST_QUOTE],
        reason=f"Nobody has said what it may be used for. Its own words read as “{label}”: {reading.reason}",
    )
