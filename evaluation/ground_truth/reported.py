"""Reports of wrong answers as whoever makes questions of them reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet

from answers.feedback import WrongReport
from answers.waiting import known_reports

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

VIEW_REPORTS, DECIDE_REPORTS = "answers.view_wrongreport", "answers.change_wrongreport"


def open_reports(user: User | AnonymousUser) -> QuerySet[WrongReport]:
    """Return the reports that `user` may know of and that nobody has decided about, the oldest first."""
    found = known_reports(user).filter(state=WrongReport.State.OPEN)
    return found.order_by("reported_at", "pk")


def proposed(report: WrongReport) -> dict[str, Any]:
    """Return what the form of a question about a report begins with.

    The reader's words stand for the answer that is expected, the documents that were cited for the evidence:
    whoever writes the question puts both right.
    """
    documents = {
        row.document_id: row.document for row in report.evidence.select_related("document").order_by("number")
    }
    held = [document for document in documents.values() if document is not None]
    return {
        "key": f"reported-{report.pk.hex[:8]}",
        "question": report.searched_question or report.question,
        "reference_answer": report.comment,
        "reference_documents": "\n".join(
            document.doi_normalised for document in held if document.doi_normalised
        ),
        "reference_titles": "\n".join(document.title for document in held if not document.doi_normalised),
    }
