"""The pages of the compression gate: decide by two runs, and read what was decided."""

from __future__ import annotations

import uuid

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from corpus.signed_in import only_for, person
from evaluation.actions import compression as action
from evaluation.calibration.queries import blinding
from evaluation.compression import queries, telling
from evaluation.forms import DecisionForm
from evaluation.reports.comparison import Incomparable
from evaluation.run_access import ADD, VIEW, check_not_blind

PER_PAGE = 25
MOST_RUNS = 100


@only_for(VIEW)
@require_http_methods(["GET", "HEAD", "POST"])
def compression_decisions(request: HttpRequest) -> HttpResponse:
    """List what was decided, and decide by two runs."""
    user = person(request)
    may_decide = user.has_perm(ADD)
    form = DecisionForm(
        request.POST if request.method == "POST" else None,
        runs=[run for run in queries.runs_to_decide_on(user)[:MOST_RUNS] if blinding(run, user) is None],
    )
    if request.method == "POST" and not may_decide:
        raise Http404
    if request.method == "POST" and form.is_valid():
        try:
            decision = action.decide(**form.sides(), by=user)
            return HttpResponseRedirect(reverse("compression_decision", args=[decision.pk]))
        except Incomparable as error:
            for one in error.differs:
                form.add_error(None, f"{str(one)[:1].upper()}{str(one)[1:]}.")
    rows = queries.known_decisions(user).order_by("-decided_at", "pk")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "form": form, "may_decide": may_decide}
    return render(request, "evaluation/compression_list.html", context, status=422 if form.errors else 200)


@only_for(VIEW)
@require_safe
def compression_decision(request: HttpRequest, decision_id: uuid.UUID) -> HttpResponse:
    """Show a decision with its reasons and numbers."""
    found = queries.known_decisions(person(request)).filter(pk=decision_id).first()
    if found is None:
        raise Http404
    for run in (found.whole, found.condensed):
        check_not_blind(request, run)
    context = {
        "decision": found,
        "verdict": telling.ADOPTED if found.is_adopted else telling.REJECTED,
        "tables": telling.tables(found.numbers),
        "warnings": found.numbers["warnings"],
    }
    return render(request, "evaluation/compression_detail.html", context)
