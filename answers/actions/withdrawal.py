"""What becomes of stored answers when a document they rest on is deleted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from answers.feedback import AcquisitionRequest, WrongReport, WrongReportSource
from answers.models import EXTRACTIVE, Answer, AnswerSource, Finding
from answers.notebook.models import DeletedNote, Observation, ObservationSource
from corpus import verbatim
from corpus.models import Document


@transaction.atomic
def withdraw(document: Document) -> int:
    """Take the words of `document` out of every stored answer; return how many answers lost their text.

    Its sources keep title, locator and hash, and the rights it had last, by which readers are told apart.
    An answer loses its text when that quotes the document, or when a model wrote it having read it. What
    was reported as wrong loses its quotations of the document. What people wrote in notes, reports and
    requests stays theirs, but for what they quote of it word for word.
    """
    rows = AnswerSource.objects.filter(document=document)
    # What a text cites is known once it has ended.
    unsettled = ~Q(answer__state=Answer.State.DONE)
    rests_on_it = Q(is_cited=True) | ~Q(answer__engine=EXTRACTIVE) | unsettled
    answers = list(rows.filter(rests_on_it).order_by().values_list("answer_id", flat=True).distinct())
    _take_quotations_out(document, list(rows.order_by().values_list("answer_id", flat=True).distinct()))
    Finding.objects.filter(answer__in=answers).delete()
    emptied = Answer.objects.filter(pk__in=answers).exclude(text="").update(text="")
    WrongReportSource.objects.filter(document=document).update(
        quote="", license_class=document.license_class, bucket=document.bucket
    )
    ObservationSource.objects.filter(document=document).update(
        withdrawn_under=document.license_class, withdrawn_from=document.bucket
    )
    rows.update(withdrawn_under=document.license_class, bucket=document.bucket, section_path=[])
    return emptied


def _take_quotations_out(document: Document, answers: list[UUID]) -> None:
    """Take what quotes `document` out of what was written about these answers, and of notes linked to it."""
    of_answers = Q(answer__in=answers)
    written: list[tuple[QuerySet[Any], str]] = [
        (Observation.objects.filter(of_answers | Q(links__document=document)).distinct(), "title"),
        (Observation.objects.filter(of_answers | Q(links__document=document)).distinct(), "text"),
        (WrongReport.objects.filter(of_answers | Q(evidence__document=document)).distinct(), "comment"),
        (AcquisitionRequest.objects.filter(of_answers), "note"),
    ]
    for rows, column in written:
        texts = {str(key): text for key, text in rows.order_by("pk").values_list("pk", column)}
        for key, left in verbatim.without(texts, _passages(document)).items():
            rows.model._default_manager.filter(pk=key).update(**{column: left})
    kept = DeletedNote.objects.filter(note__links__contains=[{"document": str(document.pk)}])
    for row in kept.order_by("pk"):
        words = {name: str(row.note.get(name, "")) for name in ("title", "text")}
        if left_of := verbatim.without(words, _passages(document)):
            DeletedNote.objects.filter(pk=row.pk).update(note=row.note | left_of)


def _passages(document: Document) -> Iterator[str]:
    return document.chunks.order_by("ordinal").values_list("body", flat=True).iterator(500)


def before_deletion(sender: type[Document], instance: Document, **_: Any) -> None:
    """Withdraw a document that is about to be deleted, in the transaction that deletes it."""
    withdraw(instance)
