"""Saying that an answer is wrong, and asking for documents that would answer a question."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from answers import pages
from answers.actions import feedback as actions
from answers.forms import NoteForm, WordsForm
from corpus.signed_in import person


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def wrong(request: HttpRequest, answer_id: uuid.UUID) -> HttpResponse:
    """Ask what is wrong with an answer one may read; store it as the draft of an evaluation question."""
    shown = pages.readable_answer(person(request), answer_id)
    if shown is None or shown.text_withheld or not shown.answer.finish:
        raise Http404
    form = WordsForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        actions.report_wrong(shown=shown, comment=form.cleaned_data["words"], by=person(request))
        messages.success(request, _("Thank you. It waits for an expert, with the evidence as it is now."))
        return HttpResponseRedirect(reverse("answer", args=[answer_id]))
    return _page(request, "answers/wrong.html", form, shown.answer.pk, shown.answer.question)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def acquire(request: HttpRequest, answer_id: uuid.UUID) -> HttpResponse:
    """Ask the librarian for documents that answer a question of one's own."""
    answer = pages.own_answer(person(request), str(answer_id))
    if answer is None or not answer.finish:
        raise Http404
    form = NoteForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        actions.request_acquisition(answer=answer, note=form.cleaned_data["words"], by=person(request))
        messages.success(request, _("Your librarian will see the question and the scope it was asked under."))
        return HttpResponseRedirect(reverse("answer", args=[answer_id]))
    return _page(request, "answers/acquire.html", form, answer.pk, answer.question)


def _page(
    request: HttpRequest, template: str, form: WordsForm | NoteForm, answer_id: uuid.UUID, question: str
) -> HttpResponse:
    context = {"form": form, "answer_id": answer_id, "question": question}
    return render(request, template, context, status=422 if form.errors else 200)
