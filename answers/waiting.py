"""What waits for a person among the answers, beside what waits in the corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from answers import alerts
from answers.feedback import AcquisitionRequest, WrongReport, WrongReportSource
from corpus import ceilings
from corpus.waiting import Waiting

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


def waiting(user: User | AnonymousUser) -> list[Waiting]:
    """Return what waits for `user`, counting only what their ceiling covers and they may look at."""
    items: list[Waiting] = []
    if user.has_perm("answers.view_answer"):
        items.append(_doubted(user))
    if user.has_perm("answers.view_acquisitionrequest"):
        items.append(_acquisitions())
    if user.has_perm("answers.view_wrongreport"):
        items.append(_reports(user))
    return items


def _acquisitions() -> Waiting:
    return Waiting(
        _("Requests for documents"),
        _("Questions the corpus did not cover, with the scope they were asked under."),
        AcquisitionRequest.objects.filter(state=AcquisitionRequest.State.OPEN).count(),
        f"{reverse('admin:answers_acquisitionrequest_changelist')}?state__exact=open",
        "caution",
    )


def known_reports(user: User | AnonymousUser) -> QuerySet[WrongReport]:
    """Return the reports all of whose evidence `user` may know of: comments repeat what was read."""
    known = ceilings.about_covered_documents(user, lookup="document")
    hidden = WrongReportSource.objects.filter(report=OuterRef("pk")).exclude(known)
    return WrongReport.objects.filter(~Exists(hidden))


def _reports(user: User | AnonymousUser) -> Waiting:
    reports = known_reports(user).filter(state=WrongReport.State.OPEN)
    return Waiting(
        _("Answers reported as wrong"),
        _("Drafts of evaluation questions, with their evidence as it was."),
        reports.count(),
        f"{reverse('admin:answers_wrongreport_changelist')}?state__exact=open",
        "caution",
    )


def _doubted(user: User | AnonymousUser) -> Waiting:
    return Waiting(
        _("Answers that cite a work retracted or doubted since"),
        _("Each carries a warning, and whoever asked was told. See whether something rests on them."),
        alerts.affected_under_ceiling(user).count(),
        f"{reverse('admin:answers_answer_changelist')}?cites=warned",
        "danger",
    )
