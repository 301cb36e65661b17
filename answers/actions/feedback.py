"""Writing down what readers say about answers, and what was decided about it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from answers.feedback import AcquisitionRequest, WrongReport, WrongReportSource

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from answers.models import Answer
    from answers.reading import ReadableAnswer, ReadableSource


@transaction.atomic
def report_wrong(*, shown: ReadableAnswer, comment: str, by: User) -> WrongReport:
    """Store that `by` says the answer is wrong, with the evidence as they see it now, frozen.

    Saying it again while the first report is open changes its comment, and nothing else.
    """
    answer = shown.answer
    report, is_new = WrongReport.objects.get_or_create(
        answer_ref=answer.pk,
        reported_by=by,
        state=WrongReport.State.OPEN,
        defaults={
            "answer": answer,
            "question": answer.question,
            "searched_question": answer.searched,
            "effective_scope": answer.effective_scope,
            "engine": answer.engine,
            "model": answer.model,
            "fingerprint": answer.fingerprint,
            "answer_sha256": hashlib.sha256(shown.text.encode()).hexdigest(),
            "comment": comment,
        },
    )
    if is_new:
        cited = [source for source in shown.cited if source.available]
        WrongReportSource.objects.bulk_create(_frozen(report, source) for source in cited)
    else:
        report.comment = comment
        report.save(update_fields=["comment"])
    return report


def _frozen(report: WrongReport, source: ReadableSource) -> WrongReportSource:
    return WrongReportSource(
        report=report,
        number=source.number,
        document_id=source.document_id,
        passage_id=source.passage_id or None,
        content_sha256=source.content_sha256,
        quote=source.body,
        locator=source.locator,
        license_class=source.license_now,
        bucket=source.bucket,
    )


@transaction.atomic
def request_acquisition(*, answer: Answer, note: str, by: User) -> AcquisitionRequest:
    """Ask the librarian for documents that answer what `by` asked; asking again changes the note."""
    request, is_new = AcquisitionRequest.objects.get_or_create(
        answer=answer,
        asked_by=by,
        state=AcquisitionRequest.State.OPEN,
        defaults={"question": answer.question, "requested_scope": answer.requested_scope, "note": note},
    )
    if not is_new:
        request.note = note
        request.save(update_fields=["note"])
    return request


@transaction.atomic
def decide_reports(*, reports: Sequence[WrongReport], state: WrongReport.State, by: User) -> int:
    """Close the open ones of `reports`; return how many were."""
    still_open = WrongReport.objects.filter(pk__in=[row.pk for row in reports], state=WrongReport.State.OPEN)
    return still_open.update(state=state, decided_at=timezone.now(), decided_by=by)


@transaction.atomic
def decide_acquisitions(
    *, requests: Sequence[AcquisitionRequest], state: AcquisitionRequest.State, by: User
) -> int:
    """Close the open ones of `requests`; return how many were."""
    wanted = [row.pk for row in requests]
    still_open = AcquisitionRequest.objects.filter(pk__in=wanted, state=AcquisitionRequest.State.OPEN)
    return still_open.update(state=state, decided_at=timezone.now(), decided_by=by)
