"""What becomes of stored answers when a document they rest on is deleted."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Q

from answers.feedback import WrongReportSource
from answers.models import EXTRACTIVE, Answer, AnswerSource, Finding
from answers.notebook.models import ObservationSource
from corpus.models import Document


@transaction.atomic
def withdraw(document: Document) -> int:
    """Take the words of `document` out of every stored answer; return how many answers lost their text.

    Its sources keep title, locator and hash, and the rights it had last, by which readers are told apart.
    An answer loses its text when that quotes the document, or when a model wrote it having read it. What
    was reported as wrong loses its quotations of the document; notes keep what a person wrote.
    """
    rows = AnswerSource.objects.filter(document=document)
    # What a text cites is known once it has ended.
    unsettled = ~Q(answer__state=Answer.State.DONE)
    rests_on_it = Q(is_cited=True) | ~Q(answer__engine=EXTRACTIVE) | unsettled
    answers = list(rows.filter(rests_on_it).order_by().values_list("answer_id", flat=True).distinct())
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


def before_deletion(sender: type[Document], instance: Document, **_: Any) -> None:
    """Withdraw a document that is about to be deleted, in the transaction that deletes it."""
    withdraw(instance)
