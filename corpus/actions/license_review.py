"""Deciding on rights in the queue: planned first, done for what can be done, taken back for a while."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from corpus import ceilings, review_queue
from corpus.actions import rights
from corpus.actions.rights import Change
from corpus.curation import ReviewItem
from corpus.models import Document, RightsDecision
from corpus.rights import CLOSED, LicenseClass, parse_class, raises

if TYPE_CHECKING:
    from django.contrib.auth.models import User

State = ReviewItem.State
UNDO_WINDOW = timedelta(minutes=30)
# Instead of a class: what is suggested for each, or the class each has.
SUGGESTED, AS_IT_IS = "suggested", "as_it_is"


class Refusal(StrEnum):
    """Why a document is left as it is."""

    NOT_THERE = "not_there"
    DECIDED = "decided"
    NO_EVIDENCE = "no_evidence"
    NOTHING_SUGGESTED = "nothing_suggested"
    EMBARGO = "embargo"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A document as somebody chose it: `seen` is the newest decision on it that they were shown."""

    document: UUID
    seen: int


@dataclass(frozen=True, slots=True)
class Planned:
    """What a decision does to one document."""

    document: Document
    after: LicenseClass
    evidence: str
    items: tuple[ReviewItem, ...]

    @property
    def before(self) -> LicenseClass:
        """The class it has now."""
        return parse_class(self.document.license_class)


@dataclass(frozen=True, slots=True)
class Refused:
    """A document that a decision leaves as it is. Without a title where it is not the person's to know."""

    document: UUID
    title: str
    reason: Refusal


@dataclass(frozen=True, slots=True)
class Plan:
    """What a decision would do, document by document."""

    planned: tuple[Planned, ...]
    refused: tuple[Refused, ...]


@dataclass(frozen=True, slots=True)
class LastDecision:
    """What somebody decided last and can take back: its moment, and on how many documents."""

    at: datetime
    documents: int


def plan(*, chosen: Iterable[Chosen], choice: str, by: User, evidence: str = "") -> Plan:
    """Say what `choice`, a class or one of the two words, does to each of the documents; change nothing."""
    seen = {one.document: one.seen for one in chosen}
    covered = _covered(seen, by)
    queued = set(review_queue.waiting(by).filter(pk__in=list(seen)).values_list("pk", flat=True))
    return _planned(seen, choice, evidence.strip(), covered, queued)


def _covered(ids: Iterable[UUID], by: User) -> list[Document]:
    """Return those of the documents that `by` may know of, in a steady order."""
    covered = Document.objects.under(ceilings.of(by)).filter(pk__in=list(ids))
    return list(covered.only("id", "title", "license_class", "bucket", "embargoed_until").order_by("id"))


def _planned(
    seen: dict[UUID, int], choice: str, evidence: str, documents: Sequence[Document], queued: set[UUID]
) -> Plan:
    newest, items = review_queue.newest_decisions(seen), review_queue.items_of(seen)
    planned, refused = [], []
    for document in documents:
        if document.pk not in queued or newest.get(document.pk, 0) != seen[document.pk]:
            refused.append(Refused(document.pk, document.title, Refusal.DECIDED))
            continue
        verdict = _verdict(document, tuple(items.get(document.pk, ())), choice, evidence)
        if isinstance(verdict, Planned):
            planned.append(verdict)
        else:
            refused.append(Refused(document.pk, document.title, verdict))
    known = {document.pk for document in documents}
    gone = [Refused(pk, "", Refusal.NOT_THERE) for pk in seen if pk not in known]
    return Plan(tuple(planned), (*refused, *gone))


def _verdict(
    document: Document, items: tuple[ReviewItem, ...], choice: str, evidence: str
) -> Planned | Refusal:
    before, suggested = parse_class(document.license_class), review_queue.suggested_class(items)
    if choice == SUGGESTED and suggested is None:
        return Refusal.NOTHING_SUGGESTED
    after = {SUGGESTED: suggested, AS_IT_IS: before}.get(choice) or parse_class(choice)
    # Words that speak for one class are no evidence for another.
    ground = evidence or review_queue.signal_for(items, after)
    if raises(before, after) and not ground.strip():
        return Refusal.NO_EVIDENCE
    day = document.embargoed_until
    if after not in CLOSED and day is not None and day > timezone.localdate():
        return Refusal.EMBARGO
    return Planned(document, after, ground, items)


@transaction.atomic
def decide(*, chosen: Iterable[Chosen], choice: str, by: User, evidence: str = "", note: str = "") -> Plan:
    """Do what `plan` says at this moment; return it.

    Every document that can be decided on is, all of them in one moment, with a `RightsDecision` each and
    its suggestions settled. Who comes second finds the document refused as decided. Raises
    `rights.NotAllowed` for who may not change licences.
    """
    seen = {one.document: one.seen for one in chosen}
    rights.require_may_change([], by=by)
    # Suggestions before documents, as everywhere, so that no two people wait for each other.
    list(review_queue.open_items().filter(document__in=list(seen)).select_for_update().order_by("pk"))
    rights.locked(seen)
    done = plan(chosen=[Chosen(*one) for one in seen.items()], choice=choice, by=by, evidence=evidence)
    now = timezone.now()
    recorded = [one for one in done.planned if one.before is not one.after or _is_left_unknown(one)]
    changes = {one.document.pk: Change(one.after, one.evidence) for one in recorded}
    rights.decide(rows=[one.document for one in recorded], changes=changes, by=by, note=note, at=now)
    _settle(done.planned, by=by, note=note, at=now)
    return done


def _is_left_unknown(one: Planned) -> bool:
    """Whether a person looked and left it unknown: that is a decision, and takes it off the queue."""
    return one.after is LicenseClass.UNKNOWN


def _settle(planned: Iterable[Planned], *, by: User, note: str, at: datetime) -> None:
    states: dict[State, list[int]] = {State.ACCEPTED: [], State.REJECTED: []}
    for one in planned:
        for item in one.items:
            taken = one.before is not one.after and item.suggestion.get("license_class") == one.after
            states[State.ACCEPTED if taken else State.REJECTED].append(item.pk)
    said: dict[str, Any] = {
        "decided_at": at,
        "decided_by_id": by.pk,
        "decided_by_name": by.get_username(),
        "note": note.strip(),
    }
    for state, ids in states.items():
        ReviewItem.objects.filter(pk__in=ids, state=State.OPEN).update(state=state, **said)


def last_decision(by: User) -> LastDecision | None:
    """Return what `by` decided last, within the time in which it can be taken back; None without any."""
    decisions, items = _undoable_decisions(by), _undoable_items(by)
    moments = [
        *decisions.order_by("-decided_at").values_list("decided_at", flat=True)[:1],
        *items.order_by("-decided_at").values_list("decided_at", flat=True)[:1],
    ]
    at = max((moment for moment in moments if moment is not None), default=None)
    if at is None:
        return None
    documents = {*decisions.filter(decided_at=at).values_list("document_id", flat=True)}
    documents |= {*items.filter(decided_at=at).values_list("document_id", flat=True)}
    return LastDecision(at, len(documents))


@transaction.atomic
def undo(*, by: User, at: datetime) -> int:
    """Take back what `by` decided at the moment `at`; return for how many documents.

    Each goes back to the class it had, by a decision of its own that names the one it undoes, and its
    suggestions are open again. What somebody decided on since, or what is longer ago than the window,
    stays. Raises `rights.NotAllowed`.
    """
    rights.require_may_change([], by=by)
    about = {
        *_undoable_decisions(by).filter(decided_at=at).values_list("document_id", flat=True),
        *_undoable_items(by).filter(decided_at=at).values_list("document_id", flat=True),
    }
    rows = {row.pk: row for row in rights.locked(about)}
    covered = {row.pk for row in _covered(rows, by)}
    decisions = list(_undoable_decisions(by).filter(decided_at=at, document__in=covered).order_by("id"))
    items = list(_undoable_items(by).filter(decided_at=at, document__in=covered).order_by("id"))
    changes = {
        one.document_id: Change(parse_class(one.from_class), f"Undoes decision {one.pk}", one.pk)
        for one in decisions
    }
    rights.decide(rows=[rows[pk] for pk in changes], changes=changes, by=by, note="Undone in the queue")
    ReviewItem.objects.bulk_create([_again(item) for item in items], ignore_conflicts=True, batch_size=500)
    return len({*changes, *(item.document_id for item in items)})


def _again(item: ReviewItem) -> ReviewItem:
    return ReviewItem(
        kind=item.kind,
        document_id=item.document_id,
        other_id=item.other_id,
        suggestion=item.suggestion,
        suggestion_sha256=item.suggestion_sha256,
        reason=item.reason,
        opened_at=item.opened_at,
    )


def _undoable_decisions(by: User) -> QuerySet[RightsDecision]:
    newer = RightsDecision.objects.filter(document=OuterRef("document"), pk__gt=OuterRef("pk"))
    return RightsDecision.objects.filter(
        Exists(Document.objects.filter(pk=OuterRef("document"))),
        ~Exists(newer),
        decided_by=by.pk,
        undoes__isnull=True,
        decided_at__gte=timezone.now() - UNDO_WINDOW,
    )


def _undoable_items(by: User) -> QuerySet[ReviewItem]:
    newer = RightsDecision.objects.filter(
        document=OuterRef("document"), decided_at__gt=OuterRef("decided_at")
    )
    again = ReviewItem.objects.filter(
        pk__gt=OuterRef("pk"),
        document=OuterRef("document"),
        kind=OuterRef("kind"),
        suggestion_sha256=OuterRef("suggestion_sha256"),
    )
    return ReviewItem.objects.filter(
        ~Exists(newer),
        ~Exists(again),
        kind__in=review_queue.KINDS,
        decided_by=by.pk,
        decided_at__gte=timezone.now() - UNDO_WINDOW,
    )
