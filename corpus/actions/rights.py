"""Changing what a document's licence allows. Software may lower rights; only a person raises them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

import pghistory
from django.db import transaction
from django.utils import timezone

from corpus import ceilings
from corpus.models import Document, RightsDecision
from corpus.querysets import DocumentQuerySet
from corpus.rights import LicenseClass, parse_class, raises

if TYPE_CHECKING:
    from django.contrib.auth.models import User

PERMISSION = "corpus.change_license"


class RightsError(ValueError):
    """A change of rights that may not be made. The message says why, for the person who asked."""


class EvidenceRequired(RightsError):
    """Rights were to be raised without saying on what ground."""

    def __init__(self, count: int) -> None:
        super().__init__(
            f"This allows more than before for {count} document{'' if count == 1 else 's'}. "
            "Give the evidence: an address or a quotation of the licence."
        )


class OnlyAPersonRaises(RightsError):
    """A process tried to allow more than was allowed."""

    def __init__(self, process: str, before: LicenseClass, after: LicenseClass) -> None:
        super().__init__(f"{process} may not raise rights from {before} to {after}: a person decides that.")


class NotAllowed(RightsError):
    """The person may not change licences, or not those of every document named."""

    def __init__(self) -> None:
        super().__init__("You may not change the licence of every one of these documents.")


@dataclass(frozen=True, slots=True)
class Effects:
    """What giving documents a class would do to them, in numbers."""

    raised: int
    lowered: int
    unchanged: int
    before: tuple[tuple[LicenseClass, int], ...]

    @property
    def changed(self) -> int:
        """How many documents would get another class."""
        return self.raised + self.lowered


def effects(classes: Iterable[str], license_class: LicenseClass) -> Effects:
    """Say what giving `license_class` does to documents that have `classes` now."""
    counts = Counter(parse_class(name) for name in classes)
    raised = sum(number for before, number in counts.items() if raises(before, license_class))
    unchanged = counts[license_class]
    return Effects(
        raised=raised,
        lowered=counts.total() - raised - unchanged,
        unchanged=unchanged,
        before=tuple((item, counts[item]) for item in LicenseClass if counts[item]),
    )


@transaction.atomic
def set_license(
    *,
    documents: DocumentQuerySet | Iterable[Document],
    license_class: str,
    by: User,
    evidence: str,
    note: str = "",
) -> int:
    """Give `documents` the class a person decided on; return how many changed.

    All or nothing: raises `NotAllowed` when one of the documents is not `by`'s to change, and
    `EvidenceRequired` when one of them would be raised without evidence. Writes one `RightsDecision`
    for each document that changes.
    """
    target = parse_class(license_class)
    rows = _locked(documents)
    _require_may_change(rows, by=by)
    raised = sum(raises(parse_class(row.license_class), target) for row in rows)
    if raised and not evidence.strip():
        raise EvidenceRequired(raised)
    changing = [row for row in rows if row.license_class != target]
    decision = _Decision(
        evidence=evidence.strip(), note=note.strip(), decided_by_id=by.pk, decided_by_name=by.get_username()
    )
    with pghistory.context(user=by.pk, reason=note.strip() or f"Licence set to {target}"):
        _apply(changing, target, decision)
    return len(changing)


@transaction.atomic
def lower_license(*, document: Document, license_class: str, process: str, signal: str) -> bool:
    """Let software lower the class of `document`; return whether it changed.

    Raises `OnlyAPersonRaises` when the class would allow more than the present one.
    """
    target = parse_class(license_class)
    (row,) = _locked([document])
    before = parse_class(row.license_class)
    if raises(before, target):
        raise OnlyAPersonRaises(process, before, target)
    return _by_process(document, row, target, process=process, signal=signal)


@transaction.atomic
def propose_license(*, document: Document, license_class: str, process: str, signal: str) -> bool:
    """Let software set the class of a document nobody has decided on; return whether it changed.

    A document has been decided on when its class is known or the log holds a decision about it, even
    the decision that its rights are unknown. From then on this lowers at most, like `lower_license`.
    """
    target = parse_class(license_class)
    (row,) = _locked([document])
    before = parse_class(row.license_class)
    undecided = before is LicenseClass.UNKNOWN and not row.rights_decisions.exists()
    if raises(before, target) and not undecided:
        raise OnlyAPersonRaises(process, before, target)
    return _by_process(document, row, target, process=process, signal=signal)


@dataclass(frozen=True, slots=True)
class _Decision:
    """Who decided, and on what ground: the part of the log entry that all documents share."""

    signal: str = ""
    evidence: str = ""
    process: str = ""
    decided_by_id: int | None = None
    decided_by_name: str = ""
    note: str = ""


def _locked(documents: DocumentQuerySet | Iterable[Document]) -> list[Document]:
    # In one order, so that two people who change overlapping lists wait instead of dead-locking.
    ids: set[UUID] = {document.pk for document in documents}
    found = Document.objects.filter(pk__in=ids).only("id", "title", "license_class", "bucket")
    return list(found.select_for_update().order_by("id"))


def _require_may_change(rows: list[Document], *, by: User) -> None:
    if not by.has_perm(PERMISSION):
        raise NotAllowed
    ceiling = ceilings.of(by)
    if not all(ceiling.covers(row.license_class, row.bucket) for row in rows):
        raise NotAllowed


def _by_process(
    document: Document, row: Document, target: LicenseClass, *, process: str, signal: str
) -> bool:
    if row.license_class == target:
        return False
    with pghistory.context(process=process, reason=f"Licence set to {target}"):
        _apply([row], target, _Decision(process=process, signal=signal))
    document.license_class = target.value
    return True


def _apply(rows: list[Document], target: LicenseClass, decision: _Decision) -> None:
    # One moment for all of them, so that the log can show what was decided together.
    now = timezone.now()
    RightsDecision.objects.bulk_create(
        [
            RightsDecision(
                document=row,
                document_title=row.title,
                from_class=row.license_class,
                to_class=target.value,
                signal=decision.signal,
                evidence=decision.evidence,
                process=decision.process,
                decided_by_id=decision.decided_by_id,
                decided_by_name=decision.decided_by_name,
                note=decision.note,
                decided_at=now,
            )
            for row in rows
        ],
        batch_size=500,
    )
    Document.objects.filter(pk__in=[row.pk for row in rows]).update(
        license_class=target.value, updated_at=now
    )
