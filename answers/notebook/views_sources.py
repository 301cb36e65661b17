"""The works behind a note: naming one, relating to it, taking it out; keeping a note on an answer."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from answers import pages
from answers.notebook import actions, reading, saving
from answers.notebook.forms import CiteForm, ObservationForm
from answers.notebook.models import Observation, ObservationSource
from answers.notebook.views import gone_is_absent, may_write, note_page, own_note
from corpus.signed_in import person


@login_required
@may_write
@require_POST
@gone_is_absent
def note_cite(request: HttpRequest, note_id: uuid.UUID) -> HttpResponse:
    """Link a work to one's own note by its identifier or title."""
    kept = own_note(request, note_id)
    form = CiteForm(request.POST)
    if form.is_valid():
        try:
            (link,) = actions.cite(
                note=kept,
                named=[form.cleaned_data["named"]],
                by=person(request),
                relationship=form.cleaned_data["relationship"],
            )
        except actions.TooManySources as refusal:
            form.add_error("work", str(refusal))
        else:
            messages.success(request, _("Linked as source %(number)s.") % {"number": link.number})
            return HttpResponseRedirect(reverse("note", args=[note_id]))
    return note_page(request, note_id, form, status=422)


@login_required
@may_write
@require_POST
@gone_is_absent
def note_source(request: HttpRequest, note_id: uuid.UUID, number: int) -> HttpResponse:
    """Say how one's own note relates to a source of it, have it checked again, or take it out."""
    kept = own_note(request, note_id)
    if request.POST.get("do") == "check":
        return _check_again(request, kept, number)
    if request.POST.get("do") == "remove":
        done = actions.unlink(note=kept, number=number, by=person(request))
        told = _("Source %(number)s is taken out. The others keep their numbers.")
    else:
        relationship = request.POST.get("relationship", "")
        if relationship == ObservationSource.Relationship.RETRIEVED:
            # Only an answer retrieves: whoever leaves it at that has changed nothing.
            return HttpResponseRedirect(reverse("note", args=[note_id]))
        if relationship not in ObservationSource.Relationship.values:
            raise Http404
        done = actions.relate(note=kept, number=number, relationship=relationship, by=person(request))
        told = _("Changed for source %(number)s.")
    if not done:
        raise Http404
    messages.success(request, told % {"number": number})
    return HttpResponseRedirect(reverse("note", args=[note_id]))


def _check_again(request: HttpRequest, kept: Observation, number: int) -> HttpResponse:
    """Have an index asked about a source, as far as its reader may know that it can be."""
    (shown,) = reading.shown([kept], person(request))
    if not any(source.number == number and source.is_checkable for source in shown.sources):
        raise Http404
    actions.check_again(note=kept, number=number, by=person(request))
    told = _("Source %(number)s is checked for a retraction with the next run, within minutes as a rule.")
    messages.success(request, told % {"number": number})
    return HttpResponseRedirect(reverse("note", args=[kept.pk]))


@login_required
@may_write
@require_http_methods(["GET", "HEAD", "POST"])
def answer_note(request: HttpRequest, answer_id: uuid.UUID) -> HttpResponse:
    """Keep a note on an answer one may read, linked to the works that were retrieved for it."""
    shown = pages.readable_answer(person(request), answer_id)
    if shown is None or not shown.answer.finish:
        raise Http404
    works = saving.works(shown)
    form = ObservationForm(request.POST if request.method == "POST" else None)
    sent = request.POST.getlist("source") if request.method == "POST" else None
    if request.method == "POST" and form.is_valid():
        met = saving.chosen(works, sent or [])
        kept = actions.add(
            words=form.words(),
            by=person(request),
            answer=shown.answer,
            met=met,
            named=form.cleaned_data["named"],
        )
        told = ngettext(
            "Kept, with %(n)s retrieved work.",
            "Kept, with %(n)s retrieved works.",
            len(met),
        )
        messages.success(request, told % {"n": len(met)})
        return HttpResponseRedirect(reverse("note", args=[kept.pk]))
    context = {
        "form": form,
        "answer": shown.answer,
        "works": works,
        "ticked": saving.ticked(works) if sent is None else sent,
        "kinds": Observation.Kind.choices,
        "chosen_kind": str(form["kind"].value() or Observation.Kind.FINDING),
    }
    return render(request, "notebook/note_save.html", context, status=422 if form.errors else 200)
