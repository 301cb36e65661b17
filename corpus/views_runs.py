"""The pages of ingestion runs. Whoever may not see runs gets what a missing one gives."""

from __future__ import annotations

import uuid
from functools import partial

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from corpus import connections, event_stream, run_pages
from corpus.actions import runs
from corpus.models import IngestionItem, IngestionRun
from corpus.signed_in import only_for, person

RUNS_PER_PAGE = 25
FILES_PER_PAGE = 100


@only_for("corpus.view_ingestionrun")
@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    """List the runs, the newest first."""
    page = Paginator(run_pages.runs(person(request)), RUNS_PER_PAGE).get_page(request.GET.get("page"))
    entries = [(run, run_pages.parts_of(run)) for run in page.object_list]
    return render(request, "corpus/run_list.html", {"page": page, "entries": entries})


@only_for("corpus.view_ingestionrun")
@require_safe
def run(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Show how far a run is and what became of each file."""
    return render(request, "corpus/run_detail.html", _context(_found(run_id), request))


@only_for("corpus.view_ingestionrun")
@require_safe
def run_events(request: HttpRequest, run_id: uuid.UUID) -> StreamingHttpResponse:
    """Send the parts of the run's page again as they change, until the run ends."""
    _found(run_id)
    return event_stream.following(partial(_parts, request, run_id))


@only_for("corpus.add_ingestionrun")
@require_POST
def run_cancel(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Stop a run after the files at hand."""
    count = runs.cancel(run=_steerable(run_id), by=person(request))
    said = ngettext(
        "Cancelled. %(count)d file was not begun.", "Cancelled. %(count)d files were not begun.", count
    )
    messages.success(request, said % {"count": count})
    return HttpResponseRedirect(reverse("run", args=[run_id]))


@only_for("corpus.add_ingestionrun")
@require_POST
def run_retry(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Queue again what failed and what a cancellation left out."""
    count = runs.retry(run=_steerable(run_id), by=person(request))
    said = ngettext("%(count)d file is tried again.", "%(count)d files are tried again.", count)
    messages.success(request, said % {"count": count})
    return HttpResponseRedirect(reverse("run", args=[run_id]))


def _parts(request: HttpRequest, run_id: uuid.UUID) -> tuple[dict[str, str], bool]:
    """Return the parts of the page that move, each addressed to its place, and whether the run has ended."""
    try:
        found = run_pages.find(run_id)
        if found is None:
            return {}, True
        context = _context(found, request)
        parts: dict[str, str] = {
            part: event_stream.partial(
                f"#{part}", render_to_string(f"corpus/run_detail.html#{part}", context, request), "innerMorph"
            )
            for part in ("run-progress", "run-files")
        }
        return parts, found.state != IngestionRun.State.RUNNING
    finally:
        connections.release()


def _context(run: IngestionRun, request: HttpRequest) -> dict[str, object]:
    user = person(request)
    wanted = request.GET.get("show", "")
    outcome = wanted if wanted in IngestionItem.Outcome.values else ""
    page = Paginator(run_pages.rows(run, user, outcome=outcome), FILES_PER_PAGE).get_page(
        request.GET.get("page")
    )
    return {
        "run": run,
        "progress": run_pages.progress(run, user),
        "page": page,
        "rows": [run_pages.as_row(item, run) for item in page.object_list],
        "show": outcome,
        "filter_query": f"show={outcome}" if outcome else "",
        "may_steer": user.has_perm("corpus.add_ingestionrun"),
        "live_query": request.GET.urlencode(),
    }


def _found(run_id: uuid.UUID) -> IngestionRun:
    found = run_pages.find(run_id)
    if found is None:
        raise Http404
    return found


def _steerable(run_id: uuid.UUID) -> IngestionRun:
    """Return a run that workers carry out; one in a terminal is stopped there."""
    found = _found(run_id)
    if not runs.is_for_workers(found):
        raise Http404(_("The run is carried out by a command."))
    return found
