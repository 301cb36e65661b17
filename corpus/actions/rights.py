"""Changing what a document's licence allows. Software may lower rights; only a person raises them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

import pghistory
from django.db import transaction
from django.utils import timezone

from corpus import ceilings
from corpus.models import Document, RightsDecision
from corpus.querysets import DocumentQuerySet
from corpus.rights import CLOSED, LicenseClass, parse_class, raises

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


class UnderEmbargo(RightsError):
    """Documents that stay restricted until a day were to be opened before it."""

    def __init__(self, count: int) -> None:
        super().__init__(
            f"{count} document{' is' if count == 1 else 's are'} under an embargo whose day has not come. "
            "Take the date away first, with a reason."
        )


@dataclass(frozen=True, slots=True)
class Operator:
    """Whoever works at the command line without an account: they hold the database, and have a name there."""

    name: str

    def get_username(self) -> str:
        """Return how the log names them."""
        return f"{self.name} (command line)"


@dataclass(frozen=True, slots=True)
class Change:
    """The class one document is to get, and on what ground. `undoes` is the decision it takes back."""

    license_class: LicenseClass
    evidence: str = ""
    undoes: int | None = None


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
    by: User | Operator,
    evidence: str,
    note: str = "",
) -> int:
    """Give `documents` the class a person decided on; return how many changed.

    All or nothing: raises `NotAllowed` when one of the documents is not `by`'s to change,
    `EvidenceRequired` when one of them would be raised without evidence, and `UnderEmbargo`. Writes one
    `RightsDecision` for each document that changes.
    """
    target = parse_class(license_class)
    rows = locked({document.pk for document in documents})
    require_may_change(rows, by=by)
    changing = [row for row in rows if row.license_class != target]
    decide(rows=changing, changes=dict.fromkeys(_keys(changing), Change(target, evidence)), by=by, note=note)
    return len(changing)


@transaction.atomic
def decide(
    *,
    rows: list[Document],
    changes: Mapping[UUID, Change],
    by: User | Operator,
    note: str = "",
    at: datetime | None = None,
) -> None:
    """Give each of `rows`, which the caller has locked, the class that `changes` has for it.

    Writes a `RightsDecision` for every one of them, also for a class that is confirmed, all of the
    moment `at`. Raises as `set_license` does, and changes nothing then.
    """
    require_may_change(rows, by=by)
    raised = [row for row in rows if raises(parse_class(row.license_class), changes[row.pk].license_class)]
    unfounded = sum(not changes[row.pk].evidence.strip() for row in raised)
    if unfounded:
        raise EvidenceRequired(unfounded)
    account = None if isinstance(by, Operator) else by.pk
    who = _Doer(note=note.strip(), decided_by_id=account, decided_by_name=by.get_username()[:150])
    targets = {change.license_class for change in changes.values()}
    reason = f"Licence set to {targets.pop()}" if len(targets) == 1 else "Licences set"
    doer = {"process": by.get_username()} if isinstance(by, Operator) else {"user": by.pk}
    with pghistory.context(**doer, reason=note.strip() or reason):
        _apply(rows, changes, who, at=at)


@transaction.atomic
def lower_license(*, document: Document, license_class: str, process: str, signal: str) -> bool:
    """Let software lower the class of `document`; return whether it changed.

    Raises `OnlyAPersonRaises` when the class would allow more than the present one.
    """
    target = parse_class(license_class)
    (row,) = locked({document.pk})
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
    (row,) = locked({document.pk})
    before = parse_class(row.license_class)
    undecided = before is LicenseClass.UNKNOWN and not row.rights_decisions.exists()
    if raises(before, target) and not undecided:
        raise OnlyAPersonRaises(process, before, target)
    return _by_process(document, row, target, process=process, signal=signal)


def forget_words(*, document_id: UUID) -> None:
    """Take the words out of the decisions about a document that was deleted, in the caller's transaction.

    Who decided what and when stays. The database allows this one change, and only for such a document.
    """
    RightsDecision.objects.filter(document_id=document_id).update(
        document_title="", signal="", evidence="", note=""
    )


@dataclass(frozen=True, slots=True)
class _Doer:
    """Who decided, and what they said: the part of the log entry that all documents share."""

    signal: str = ""
    process: str = ""
    decided_by_id: int | None = None
    decided_by_name: str = ""
    note: str = ""


def locked(ids: Iterable[UUID]) -> list[Document]:
    """Return the documents with these ids, locked until the transaction ends."""
    # In one order, so that two people who change overlapping lists wait instead of dead-locking.
    found = Document.objects.filter(pk__in=set(ids)).only(
        "id", "title", "license_class", "bucket", "embargoed_until"
    )
    return list(found.select_for_update().order_by("id"))


def require_may_change(rows: Iterable[Document], *, by: User | Operator) -> None:
    """Raise `NotAllowed` unless `by` may change the licences of all of `rows`."""
    if isinstance(by, Operator):
        return
    if not by.has_perm(PERMISSION):
        raise NotAllowed
    ceiling = ceilings.of(by)
    if not all(ceiling.covers(row.license_class, row.bucket) for row in rows):
        raise NotAllowed


def _keys(rows: Iterable[Document]) -> list[UUID]:
    return [row.pk for row in rows]


def _by_process(
    document: Document, row: Document, target: LicenseClass, *, process: str, signal: str
) -> bool:
    if row.license_class == target:
        return False
    with pghistory.context(process=process, reason=f"Licence set to {target}"):
        _apply([row], {row.pk: Change(target)}, _Doer(process=process, signal=signal))
    document.license_class = target.value
    return True


def _apply(
    rows: list[Document], changes: Mapping[UUID, Change], who: _Doer, *, at: datetime | None = None
) -> None:
    # One moment for all of them, so that the log can show what was decided together.
    now = at or timezone.now()
    _refuse_before_the_day(rows, changes)
    RightsDecision.objects.bulk_create(
        [_entry(row, changes[row.pk], who, now) for row in rows], batch_size=500
    )
    by_class: dict[LicenseClass, list[UUID]] = defaultdict(list)
    for row in rows:
        if row.license_class != changes[row.pk].license_class:
            by_class[changes[row.pk].license_class].append(row.pk)
    for target, ids in by_class.items():
        values = {"license_class": target.value, "updated_at": now}
        # An embargo restricts: what is open by a person's decision has none any more.
        ended = {} if target in CLOSED else {"embargoed_until": None}
        Document.objects.filter(pk__in=ids).update(**values, **ended)


def _refuse_before_the_day(rows: Iterable[Document], changes: Mapping[UUID, Change]) -> None:
    today = timezone.localdate()
    early = sum(
        row.embargoed_until is not None
        and row.embargoed_until > today
        and changes[row.pk].license_class not in CLOSED
        for row in rows
    )
    if early:
        raise UnderEmbargo(early)


def _entry(row: Document, change: Change, who: _Doer, now: datetime) -> RightsDecision:
    return RightsDecision(
        document=row,
        document_title=row.title,
        from_class=row.license_class,
        to_class=change.license_class.value,
        signal=who.signal,
        evidence=change.evidence.strip(),
        process=who.process,
        decided_by_id=who.decided_by_id,
        decided_by_name=who.decided_by_name,
        note=who.note,
        decided_at=now,
        undoes_id=change.undoes,
    )
