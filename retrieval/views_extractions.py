"""The pages of extraction runs. Whoever may not see them gets what a missing one gives."""

from __future__ import annotations

import uuid
from functools import partial

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from corpus import connections, event_stream
from corpus.signed_in import person
from retrieval.graph import run_pages
from retrieval.graph.models import ExtractionRun

RUNS_PER_PAGE = 25


@login_required
@require_safe
def extractions(request: HttpRequest) -> HttpResponse:
    """List the runs, the newest first."""
    _require_may_look(request)
    page = Paginator(run_pages.runs(), RUNS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "graph/run_list.html", {"page": page})


@login_required
@require_safe
def extraction(request: HttpRequest, extraction_id: uuid.UUID) -> HttpResponse:
    """Show how far a run is, what it found and what it left out."""
    _require_may_look(request)
    return render(request, "graph/run_detail.html", _context(_found(extraction_id)))


@login_required
@require_safe
def extraction_events(request: HttpRequest, extraction_id: uuid.UUID) -> StreamingHttpResponse:
    """Send the part of the run's page that moves again as it changes, until the run ends."""
    _require_may_look(request)
    _found(extraction_id)
    return event_stream.following(partial(_parts, request, extraction_id))


def _parts(request: HttpRequest, extraction_id: uuid.UUID) -> tuple[dict[str, str], bool]:
    """Return the part of the page that moves, addressed to its place, and whether the run has ended."""
    try:
        found = run_pages.find(extraction_id)
        if found is None:
            return {}, True
        html = render_to_string("graph/run_detail.html#run-progress", _context(found), request)
        parts: dict[str, str] = {"run-progress": event_stream.partial("#run-progress", html, "innerMorph")}
        return parts, found.state != ExtractionRun.State.RUNNING
    finally:
        connections.release()


def _context(run: ExtractionRun) -> dict[str, object]:
    return {"run": run, "progress": run_pages.progress(run)}


def _require_may_look(request: HttpRequest) -> None:
    if not run_pages.may_look(person(request)):
        raise Http404


def _found(extraction_id: uuid.UUID) -> ExtractionRun:
    found = run_pages.find(extraction_id)
    if found is None:
        raise Http404
    return found
