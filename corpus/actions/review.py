"""Suggestions that software makes and a person decides: opened once, accepted or rejected, kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from corpus import ceilings
from corpus.actions import rights, supersession
from corpus.actions.editorial import record_event
from corpus.actions.supersession import SupersessionError
from corpus.curation import ReviewItem
from corpus.models import Document, EditorialEvent
from corpus.rights import LABELS, parse_class, raises

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Kind, State = ReviewItem.Kind, ReviewItem.State

PERMISSION = "corpus.change_reviewitem"
_NEEDED = {
    Kind.LOOSER_LICENSE: rights.PERMISSION,
    Kind.EMBARGO_OVER: rights.PERMISSION,
    Kind.SUPERSESSION: "corpus.change_document",
    Kind.CLAIMED_RETRACTION: "corpus.add_editorialevent",
}


class ReviewError(ValueError):
    """A decision that may not be made. The message says why, for the person who asked."""


class NotAllowed(ReviewError):
    """The person may not decide on this, or not on all of these."""

    def __init__(self) -> None:
        super().__init__("You may not decide on every one of these suggestions.")


def suggest_license(
    *, document: Document, license_class: str, signal: str, reason: str = ""
) -> ReviewItem | None:
    """Open a suggestion to raise the class of `document`; None when it was made before.

    Without a `reason` it is that the class was declared. What a person has rejected is not suggested
    again by the same signal.
    """
    target = parse_class(license_class)
    declared = f"{LABELS[target]} was declared for it, which allows more than it is held under."
    suggestion = {"license_class": target.value, "signal": signal}
    return _open(Kind.LOOSER_LICENSE, document, None, suggestion, reason or declared)


def suggest_after_embargo(
    *, document: Document, license_class: str | None, signal: str, reason: str
) -> ReviewItem | None:
    """Ask what `document` may be used for now that its embargo has ended; None when that was asked before."""
    named = {} if license_class is None else {"license_class": parse_class(license_class).value}
    suggestion = named | {"signal": signal, "until": f"{document.embargoed_until:%Y-%m-%d}"}
    return _open(Kind.EMBARGO_OVER, document, None, suggestion, reason)


def suggest_supersession(*, old: Document, new: Document, reason: str) -> ReviewItem | None:
    """Open a suggestion that `new` takes the place of `old`; None when it was made before."""
    return _open(Kind.SUPERSESSION, old, new, {"superseded_by": str(new.pk)}, reason)


def suggest_retraction(*, document: Document, signal: str, reason: str) -> ReviewItem | None:
    """Ask a person whether the work of `document` was retracted; None when that was asked before.

    `signal` is the title or the DOI that gives rise to the question.
    """
    return _open(Kind.CLAIMED_RETRACTION, document, None, {"signal": signal}, reason)


def _open(
    kind: ReviewItem.Kind, document: Document, other: Document | None, suggestion: dict[str, str], reason: str
) -> ReviewItem | None:
    digest = hashlib.sha256(json.dumps(suggestion, sort_keys=True).encode()).hexdigest()
    same = ReviewItem.objects.filter(document=document, kind=kind, suggestion_sha256=digest)
    if same.filter(state=State.REJECTED).exists():
        return None
    item, is_new = ReviewItem.objects.get_or_create(
        document=document,
        kind=kind,
        suggestion_sha256=digest,
        state=State.OPEN,
        defaults={"other": other, "suggestion": suggestion, "reason": reason},
    )
    return item if is_new else None


@transaction.atomic
def accept(*, items: Iterable[ReviewItem], by: User, evidence: str = "", note: str = "") -> int:
    """Do what `items` suggest, in the name of `by`; return how many were open.

    All or nothing. Without `evidence` the signal of a licence counts as such. Raises `ReviewError`,
    `RightsError` and `SupersessionError` when one of them cannot be done or is not `by`'s to decide.
    """
    rows = _locked(items, by)
    for row in rows:
        if row.kind in (Kind.LOOSER_LICENSE, Kind.EMBARGO_OVER):
            _raise_license(row, by, evidence, note)
        elif row.kind == Kind.CLAIMED_RETRACTION:
            _retract(row, by, evidence, note)
        else:
            _supersede(row, by, note)
        _decide(row, State.ACCEPTED, by, note)
    return len(rows)


@transaction.atomic
def reject(*, items: Iterable[ReviewItem], by: User, note: str = "") -> int:
    """Close `items` without doing what they suggest; return how many were open. All or nothing."""
    rows = _locked(items, by)
    for row in rows:
        _decide(row, State.REJECTED, by, note)
    return len(rows)


def _locked(items: Iterable[ReviewItem], by: User) -> Sequence[ReviewItem]:
    """Return the open ones of `items`, locked; raise `NotAllowed` unless all are `by`'s to decide."""
    if not by.has_perm(PERMISSION):
        raise NotAllowed
    ids = {item.pk for item in items}
    rows = list(
        ReviewItem.objects.select_for_update(of=("self",))
        .select_related("document__source", "other")
        .filter(pk__in=ids)
        .order_by("pk")
    )
    if len(rows) != len(ids) or not all(_may_decide(row, by) for row in rows):
        raise NotAllowed
    return [row for row in rows if row.state == State.OPEN]


def _may_decide(row: ReviewItem, by: User) -> bool:
    needed = _NEEDED[Kind(row.kind)]
    ceiling = ceilings.of(by)
    about = [row.document] if row.other is None else [row.document, row.other]
    return by.has_perm(needed) and all(ceiling.covers(one.license_class, one.bucket) for one in about)


def _raise_license(row: ReviewItem, by: User, evidence: str, note: str) -> None:
    if "license_class" not in row.suggestion:
        raise ReviewError(f"No class is suggested for “{row.document.title}”. Choose one in the queue.")
    target = parse_class(row.suggestion["license_class"])
    if not raises(parse_class(row.document.license_class), target):
        raise ReviewError(
            f"“{row.document.title}” is {LABELS[parse_class(row.document.license_class)]} by now, which "
            "allows as much or more. Reject the suggestion."
        )
    rights.set_license(
        documents=[row.document],
        license_class=target,
        by=by,
        evidence=evidence.strip() or row.suggestion["signal"],
        note=note,
    )


def _retract(row: ReviewItem, by: User, evidence: str, note: str) -> None:
    source = row.document.source
    if source is None:
        raise ReviewError(f"“{row.document.title}” belongs to no work. Give it one, or reject the question.")
    said = " ".join(part for part in (note.strip(), evidence.strip()) if part)
    record_event(
        source=source,
        kind=EditorialEvent.Kind.RETRACTION,
        origin=EditorialEvent.Origin.MANUAL,
        happened_on=timezone.localdate(),
        by=by,
        note=said or row.reason,
    )


def _supersede(row: ReviewItem, by: User, note: str) -> None:
    if row.other is None:
        raise SupersessionError("The newer version is gone. Reject the suggestion.")
    supersession.supersede(old=row.document, new=row.other, by=by, note=note)


def _decide(row: ReviewItem, state: ReviewItem.State, by: User, note: str) -> None:
    values: dict[str, Any] = {
        "state": state,
        "decided_at": timezone.now(),
        "decided_by_id": by.pk,
        "decided_by_name": by.get_username(),
        "note": note.strip(),
    }
    # Superseding settles the suggestion by itself.
    ReviewItem.objects.filter(pk=row.pk, state=State.OPEN).update(**values)
