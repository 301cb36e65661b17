"""Answers whose cited works are not what they were when the answer was written, or are held back.

What is affected is read from the rows each time: a work that is retracted marks every answer at once, and
one that is reinstated leaves no mark behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from answers.models import Answer, AnswerSource
from answers.notebook.models import ObservationSource
from answers.notices import Notice
from corpus.models import Document, Source

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    from corpus.querysets import DocumentQuerySet

Kind = Notice.Kind
# Versions of one work that a message names.
MOST_TOLD = 100

# Which flag of a work each kind of message stands for; these kinds are named as the badges are.
FLAGS: dict[Kind, str] = {Kind.RETRACTED: "is_retracted", Kind.CONCERN: "has_concern"}


def holding(kind: Kind) -> Q:
    """Return the condition on a work that what `kind` says holds of it today, or of a document of it."""
    if kind is Kind.HELD:
        held = Document.objects.filter(source=OuterRef("pk"), state=Document.State.QUARANTINED)
        return Q(Exists(held))
    return Q(**{FLAGS[kind]: True})


def _meant(kind: Kind, *, source: str, document: str) -> Q:
    """Return the condition that `kind` holds of the work at `source`, or of the version at `document`."""
    if kind is Kind.HELD:
        return Q(**{f"{document}__state": Document.State.QUARANTINED})
    return Q(**{f"{source}__{FLAGS[kind]}": True})


def concerned(kind: Kind) -> QuerySet[AnswerSource]:
    """Return the citations of works of which `kind` holds today and was not said in the answer."""
    told = Q(badges__contains=[kind.value])
    meant = _meant(kind, source="document__source", document="document")
    return AnswerSource.objects.filter(~told, meant, is_cited=True)


def noted(kind: Kind) -> QuerySet[ObservationSource]:
    """Return the works in somebody's notes of which `kind` holds today and did not when they were linked."""
    told = Q(standing_then__contains=[kind.value])
    meant = _meant(kind, source="source", document="document")
    return ObservationSource.objects.filter(~told, meant, observation__owner__isnull=False)


def citing(document: Document) -> QuerySet[Answer]:
    """Return the answers that cite a document, the newest first."""
    cited = AnswerSource.objects.filter(answer=OuterRef("pk"), document=document, is_cited=True)
    return Answer.objects.filter(Exists(cited)).order_by("-created_at", "id")


def affected(answers: QuerySet[Answer], *, documents: DocumentQuerySet | None = None) -> QuerySet[Answer]:
    """Keep the answers that cite a work retracted or doubted since; only through `documents`, when given."""
    condition = Q(pk__in=[])
    for kind in FLAGS:
        citations = concerned(kind).filter(answer=OuterRef("pk"))
        if documents is not None:
            citations = citations.filter(document__in=documents.order_by().values("id"))
        condition |= Q(Exists(citations))
    return answers.filter(condition)


def affected_under_ceiling(user: User | AnonymousUser) -> QuerySet[Answer]:
    """Return the affected answers as far as they are so through documents that `user` may know of."""
    from corpus import ceilings

    return affected(Answer.objects.all(), documents=Document.objects.under(ceilings.of(user)))


def told(kind: Kind, source_id: UUID, user: User) -> dict[str, Any] | None:
    """Return what `user` may be told of a work whose status changed; None when no document of it is theirs.

    In ids and numbers: the documents that hold it, and how many answers warn because of them.
    """
    from corpus import ceilings

    held = Document.objects.under(ceilings.of(user)).filter(source=source_id)
    documents = [str(key) for key in held.order_by("id").values_list("pk", flat=True)[:MOST_TOLD]]
    if not documents:
        return None
    return {
        "source": str(source_id),
        "holds": Source.objects.filter(pk=source_id, **{FLAGS[kind]: True}).exists(),
        "documents": documents,
        "answers": affected(Answer.objects.all(), documents=held).count(),
    }


def unread(user: User) -> QuerySet[Notice]:
    """Return the messages to `user` that hold and were not marked as read."""
    return Notice.objects.filter(recipient=user, read_at__isnull=True, resolved_at__isnull=True)


def to(user: User) -> QuerySet[Notice]:
    """Return all messages to `user`, newest first."""
    return (
        Notice.objects.filter(recipient=user)
        .select_related("answer", "observation", "source")
        .order_by("-created_at", "-id")
    )
