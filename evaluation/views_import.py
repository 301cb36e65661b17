"""The page on which a file of questions is taken in."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from corpus.signed_in import only_for, person
from evaluation import question_files
from evaluation.question_files import Handed
from evaluation.views_questions import ADD, CHANGE, found_set, writing


@only_for(ADD)
@only_for(CHANGE)
@require_http_methods(["GET", "HEAD", "POST"])
def questions_import(request: HttpRequest, set_name: str) -> HttpResponse:
    """Take a file of questions into a set; what was handed over is kept until it is right."""
    found = found_set(request, set_name)
    if request.method != "POST":
        return _page(request, set_name, Handed())
    handed = question_files.take(request, question_set=found, writing=writing(request), by=person(request))
    if handed.taken is None:
        return _page(request, set_name, handed)
    told = _(
        "%(added)d added, %(changed)d changed, %(unchanged)d as they were. They are drafts until signed."
    )
    counts = {what: getattr(handed.taken, what) for what in ("added", "changed", "unchanged")}
    messages.success(request, told % counts)
    return HttpResponseRedirect(reverse("questions", args=[set_name]))


def _page(request: HttpRequest, set_name: str, handed: Handed) -> HttpResponse:
    failed = bool(handed.error or handed.problems)
    context = {"set_name": set_name, "handed": handed, "most": question_files.MOST_QUESTIONS}
    return render(request, "evaluation/questions_import.html", context, status=422 if failed else 200)
