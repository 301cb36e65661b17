"""The pages of answers that somebody reported as wrong: what waits, and making questions of it."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from answers.actions.feedback import decide_reports
from answers.feedback import WrongReport
from corpus.signed_in import only_for, person
from evaluation.actions import drawing
from evaluation.actions.questions import QuestionError
from evaluation.forms import ReportedForm
from evaluation.ground_truth import queries
from evaluation.ground_truth.reported import DECIDE_REPORTS, VIEW_REPORTS, open_reports, proposed
from evaluation.views_questions import ADD, explain, writing

PER_PAGE = 25


@only_for(VIEW_REPORTS)
@require_safe
def reported_answers(request: HttpRequest) -> HttpResponse:
    """List the reports nobody has decided about."""
    user = person(request)
    page = Paginator(open_reports(user), PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "may_draw": user.has_perms([ADD, DECIDE_REPORTS])}
    return render(request, "evaluation/reported_list.html", context)


@only_for(ADD)
@require_http_methods(["GET", "HEAD", "POST"])
def reported_question(request: HttpRequest, report_id: uuid.UUID) -> HttpResponse:
    """Write a draft of what a report says, beginning with what the report holds."""
    report = _found(request, report_id)
    user = person(request)
    sets = list(queries.known_sets(user).order_by("name", "pk"))
    data = request.POST if request.method == "POST" else None
    form = ReportedForm(data, sets=sets, initial=proposed(report))
    if request.method == "POST" and form.is_valid():
        seed = form.seed(author=user.get_username())
        if seed is not None:
            try:
                drawn = drawing.draw(
                    report=report,
                    question_set=form.question_set(),
                    seed=seed,
                    writing=writing(request),
                    by=user,
                )
                messages.success(request, _("Written. It is a draft until an expert signs it."))
                return HttpResponseRedirect(reverse("question", args=[drawn.pk]))
            except QuestionError as error:
                explain(form, error)
    context = {"form": form, "report": report, "evidence": report.evidence.order_by("number", "pk")}
    return render(request, "evaluation/reported_question.html", context, status=422 if form.errors else 200)


@only_for(ADD)
@require_POST
def reported_dismiss(request: HttpRequest, report_id: uuid.UUID) -> HttpResponse:
    """Close a report that makes no question."""
    report = _found(request, report_id)
    if decide_reports(reports=[report], state=WrongReport.State.DISMISSED, by=person(request)):
        messages.success(request, _("Dismissed."))
    return HttpResponseRedirect(reverse("reported_answers"))


def _found(request: HttpRequest, report_id: uuid.UUID) -> WrongReport:
    """Return an open report that the asker may decide about."""
    user = person(request)
    found = open_reports(user).filter(pk=report_id).first() if user.has_perm(DECIDE_REPORTS) else None
    if found is None:
        raise Http404
    return found
