"""The page of a run over a campaign, as it goes on."""

from __future__ import annotations

import uuid
from functools import partial

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from corpus import connections, event_stream
from corpus.campaigns import carrying, queries
from corpus.campaigns.actions import runs
from corpus.campaigns.guarding import campaign_page
from corpus.campaigns.models import CampaignRun
from corpus.signed_in import person


@campaign_page()
@require_safe
def campaign_run(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Show how far a run is."""
    return render(request, "campaigns/run_detail.html", _context(_found(run_id), request))


@campaign_page()
@require_safe
def campaign_run_events(request: HttpRequest, run_id: uuid.UUID) -> StreamingHttpResponse:
    """Send the part of the run's page that moves again as it changes, until the run ends."""
    _found(run_id)
    return event_stream.following(partial(_parts, request, run_id))


@campaign_page(queries.RUN)
@require_POST
def campaign_run_cancel(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Stop a run after the step at hand."""
    if runs.cancel(run=_found(run_id), by=person(request)):
        messages.success(
            request, _("Cancelled. What it did stays, and starting it again goes on from there.")
        )
    return HttpResponseRedirect(reverse("campaign_run", args=[run_id]))


def _parts(request: HttpRequest, run_id: uuid.UUID) -> tuple[dict[str, str], bool]:
    """Return the part of the page that moves, addressed to its place, and whether the run has ended."""
    try:
        found = queries.find_run(run_id)
        if found is None:
            return {}, True
        html = render_to_string("campaigns/run_detail.html#run-progress", _context(found, request), request)
        parts: dict[str, str] = {"run-progress": event_stream.partial("#run-progress", html, "innerMorph")}
        return parts, found.state != CampaignRun.State.RUNNING
    finally:
        connections.release()


def _context(run: CampaignRun, request: HttpRequest) -> dict[str, object]:
    return {
        "run": run,
        "campaign": run.campaign,
        "is_running": run.state == CampaignRun.State.RUNNING,
        "is_waiting": run.state == CampaignRun.State.RUNNING and run.is_for_workers and not run.worker,
        "why": carrying.message(run.last_error_code),
        "may_steer": person(request).has_perm(queries.RUN),
    }


def _found(run_id: uuid.UUID) -> CampaignRun:
    found = queries.find_run(run_id)
    if found is None:
        raise Http404
    return found
