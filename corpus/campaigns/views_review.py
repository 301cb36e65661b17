"""The queue of works that wait for a person: one at a time, with what led to them."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from corpus.campaigns import included, queries
from corpus.campaigns.actions import screening as action
from corpus.campaigns.actions.discovering import CampaignError
from corpus.campaigns.actions.screening import AlreadyDecided
from corpus.campaigns.forms import DecisionForm
from corpus.campaigns.guarding import campaign_page
from corpus.campaigns.models import Campaign
from corpus.campaigns.screening_models import Screening, Verdict
from corpus.campaigns.views import found
from corpus.signed_in import person


@campaign_page(queries.REVIEW)
@require_http_methods(["GET", "HEAD", "POST"])
def campaign_review(request: HttpRequest, campaign_id: uuid.UUID) -> HttpResponse:
    """Show the next work that waits, or the one asked for by its number, and take the decision on it."""
    row = found(campaign_id)
    if request.method == "POST":
        return _decided(request, row)
    last = included.current_round(row)
    waiting = queries.queue(last)
    one = _asked_for(request, row) or waiting.filter(candidate__number__gt=_number(request, "after")).first()
    # After the last one that was left comes the first again.
    one = one or waiting.first()
    context = {
        "campaign": row,
        "round": last,
        "screening": one,
        "newest": None if one is None else one.decisions.order_by("-id").first(),
        "waiting": waiting.count(),
        "is_waiting": one is not None and one.verdict == Verdict.REVIEW,
    }
    return render(request, "campaigns/campaign_review.html", context)


def _asked_for(request: HttpRequest, row: Campaign) -> Screening | None:
    number = _number(request, "work")
    if not number:
        return None
    rows = Screening.objects.filter(round=included.current_round(row), candidate__number=number)
    one = rows.select_related("candidate", "round").first()
    if one is None:
        raise Http404
    return one


def _number(request: HttpRequest, name: str) -> int:
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _decided(request: HttpRequest, row: Campaign) -> HttpResponse:
    form = DecisionForm(request.POST)
    here = reverse("campaign_review", args=[row.pk])
    if not form.is_valid():
        problems = [str(error) for errors in form.errors.values() for error in errors]
        messages.error(request, " ".join(problems))
        return HttpResponseRedirect(here)
    said = form.cleaned_data
    one = Screening.objects.filter(pk=said["screening"], round__campaign=row).first()
    if one is None:
        raise Http404
    try:
        action.decide(
            screening=one,
            verdict=Verdict(said["verdict"]),
            reason=said["reason"],
            by=person(request),
            seen=said["seen"],
        )
    except (AlreadyDecided, CampaignError) as error:
        messages.warning(request, str(error))
        return HttpResponseRedirect(here)
    words = _("%(verdict)s: %(title)s") % {
        "verdict": Verdict(said["verdict"]).label,
        "title": one.candidate.title or one.candidate.key,
    }
    messages.success(request, words)
    return HttpResponseRedirect(f"{here}?after={one.candidate.number}")


@campaign_page(queries.REVIEW)
@require_POST
def campaign_undo(request: HttpRequest, campaign_id: uuid.UUID) -> HttpResponse:
    """Take back the last decision of whoever asks."""
    row = found(campaign_id)
    here = reverse("campaign_review", args=[row.pk])
    try:
        undone = action.undo(campaign=row, by=person(request))
    except AlreadyDecided as error:
        messages.warning(request, str(error))
        return HttpResponseRedirect(here)
    if undone is None:
        messages.warning(request, _("There is no decision of yours to take back."))
        return HttpResponseRedirect(here)
    messages.success(request, _("Taken back. The work stands as it did before."))
    return HttpResponseRedirect(f"{here}?work={undone.candidate.number}")
