"""What a Crossref record's licences do to a document: set, lower, suggest, or nothing."""

from __future__ import annotations

from datetime import date

from corpus.actions import review, rights
from corpus.gateways.crossref import Work
from corpus.licensing import CrossrefLicense, LicenseReading, crossref, normalise
from corpus.models import Document
from corpus.rights import LABELS, LicenseClass, parse_class, raises

PROCESS = "crossref"
_MANUSCRIPTS = ("accepted", "manuscript", "postprint", "post-print")
_BEFORE_REVIEW = ("preprint", "pre-print", "submitted", "draft")


def apply(document: Document, *, work: Work, today: date) -> str:
    """Do with `document` what the licences of `work` allow software; return what was done, empty for nothing.

    Within the caller's transaction. The same licences act once: what a person decides afterwards stays.
    """
    reading = _reading(document, work, today)
    signal = "; ".join(_written(one) for one in work.licenses)[:4_000]
    if reading is None or document.rights_decisions.filter(process=PROCESS, signal=signal).exists():
        return ""
    if reading.no_derivatives and not document.no_derivatives:
        # A limit is not left to a suggestion.
        Document.objects.filter(pk=document.pk).update(no_derivatives=True)
    before, target = parse_class(document.license_class), reading.license_class
    if before is target:
        return ""
    undecided = before is LicenseClass.UNKNOWN and not document.rights_decisions.exists()
    if undecided and not _contradicts_itself(document, reading):
        return _propose(document, target, signal)
    if raises(before, target):
        label = LABELS[target]
        reason = f"Crossref’s record of the work reads as “{label}”: {reading.reason}"
        item = review.suggest_license(document=document, license_class=target, signal=signal, reason=reason)
        return "" if item is None else "suggested"
    rights.lower_license(document=document, license_class=target, process=PROCESS, signal=signal)
    return "lowered"


def _reading(document: Document, work: Work, today: date) -> LicenseReading | None:
    """Return what the record allows for the version that is held; None where it does not say."""
    label = document.version_label.lower()
    if any(word in label for word in _BEFORE_REVIEW):
        return None
    version = "am" if any(word in label for word in _MANUSCRIPTS) else "vor"
    reading = crossref.read(work.licenses, on=today, version=version)
    return reading if reading.is_known else None


def _contradicts_itself(document: Document, reading: LicenseReading) -> bool:
    """Whether the document's own words are read as another class than the open one of the record."""
    own = [normalise(text) for text in (document.license_source, document.rights_statement) if text.strip()]
    return reading.is_open and any(
        one.is_known and one.license_class is not reading.license_class for one in own
    )


def _propose(document: Document, target: LicenseClass, signal: str) -> str:
    rights.propose_license(document=document, license_class=target, process=PROCESS, signal=signal)
    if not document.license_source:
        Document.objects.filter(pk=document.pk).update(license_source=signal)
    return "proposed"


def _written(one: CrossrefLicense) -> str:
    start = "" if one.start is None else f" from {one.start:%Y-%m-%d}"
    return f"{one.url} ({one.content_version}{start})"
