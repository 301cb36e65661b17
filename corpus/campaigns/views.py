"""The pages of campaigns: what there is, how far each is, and what is started from there."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from corpus.campaigns import background, carrying, flow_diagram, included, queries, screening, starting
from corpus.campaigns.actions import discovering as opening
from corpus.campaigns.forms import CriteriaForm, NewCampaignForm, SearchForm
from corpus.campaigns.guarding import campaign_page
from corpus.campaigns.models import Campaign, CampaignRun
from corpus.campaigns.screening_models import Verdict
from corpus.signed_in import person
from corpus.usage.budget import Cap

PER_PAGE, RUNS_SHOWN = 50, 10


@campaign_page()
@require_safe
def campaigns(request: HttpRequest) -> HttpResponse:
    """List the campaigns, the newest first."""
    page = Paginator(queries.campaigns(), PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "may_run": person(request).has_perm(queries.RUN)}
    return render(request, "campaigns/campaign_list.html", context)


@campaign_page(queries.RUN)
@require_http_methods(["GET", "HEAD", "POST"])
def campaign_new(request: HttpRequest) -> HttpResponse:
    """Begin a campaign with its first search."""
    form = NewCampaignForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        name = form.cleaned_data["name"]
        if Campaign.objects.filter(name=name).exists():
            form.add_error("name", _("There is a campaign of that name already."))
        else:
            return _search(request, form, lambda: opening.open_campaign(name=name, by=person(request)))
    return _search_page(request, form)


@campaign_page(queries.RUN)
@require_http_methods(["GET", "HEAD", "POST"])
def campaign_search(request: HttpRequest, campaign_id: uuid.UUID) -> HttpResponse:
    """Search for more, or go on with a search that ended early."""
    row = found(campaign_id)
    form = SearchForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        return _search(request, form, lambda: row, row)
    return _search_page(request, form, row)


def _search(request: HttpRequest, form: SearchForm, opened: Any, row: Campaign | None = None) -> HttpResponse:
    try:
        # Both or neither: what is refused leaves no campaign behind that has no search.
        with transaction.atomic():
            run = starting.discover(
                campaign=opened(),
                question=form.cleaned_data["question"],
                by=person(request),
                is_for_workers=True,
                anew=form.cleaned_data["anew"],
            )
    except starting.REFUSALS as error:
        form.add_error(None, str(error))
        return _search_page(request, form, row)
    background.call(run)
    return HttpResponseRedirect(reverse("campaign_run", args=[run.pk]))


def _search_page(request: HttpRequest, form: SearchForm, row: Campaign | None = None) -> HttpResponse:
    searches = [] if row is None else list(row.searches.order_by("number", "id"))
    context = {"form": form, "campaign": row, "searches": searches}
    return render(request, "campaigns/campaign_search.html", context, status=422 if form.errors else 200)


@campaign_page()
@require_safe
def campaign(request: HttpRequest, campaign_id: uuid.UUID) -> HttpResponse:
    """Show how far a campaign is, and what comes next."""
    row, user = found(campaign_id), person(request)
    flow, last = queries.flow(row), included.current_round(row)
    runs = list(queries.runs(row)[:RUNS_SHOWN])
    running = next((run for run in runs if run.state == CampaignRun.State.RUNNING), None)
    labels = queries.labels()
    context = {
        "campaign": row,
        "flow": flow,
        "refused": [(code, labels.get(code, code), count) for code, count in sorted(flow.refused.items())],
        "taken_in": [(labels.get(name, name), count) for name, count in sorted(flow.taken_in.items())],
        "round": last,
        "rounds": list(queries.rounds(row)),
        "searches": list(row.searches.order_by("number", "id")),
        "runs": [(run, carrying.message(run.last_error_code)) for run in runs],
        "running": running,
        "may_run": user.has_perm(queries.RUN),
        "may_review": user.has_perm(queries.REVIEW),
    }
    return render(request, "campaigns/campaign_detail.html", context)


@campaign_page()
@require_safe
def campaign_flow(request: HttpRequest, campaign_id: uuid.UUID) -> HttpResponse:
    """Draw the flow diagram of a campaign."""
    row = found(campaign_id)
    title = _("Flow of works: %(name)s") % {"name": row.name}
    drawn = flow_diagram.draw(queries.flow(row), title=title, labels=queries.labels())
    return HttpResponse(drawn, content_type="image/svg+xml; charset=utf-8")


@campaign_page()
@require_safe
def campaign_works(request: HttpRequest, campaign_id: uuid.UUID) -> HttpResponse:
    """List the works of a campaign with where each stands."""
    row = found(campaign_id)
    wanted, refusal = request.GET.get("show", ""), request.GET.get("refused", "")
    verdict = wanted if wanted in {*Verdict.values, "none"} else ""
    code = refusal if refusal in queries.REFUSALS else ""
    rows = queries.candidates(row, verdict=verdict, refusal=code)
    labels = queries.labels()
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    texts = [(one, queries.text_of(one)) for one in page.object_list]
    context = {
        "campaign": row,
        "page": page,
        "rows": [(one, text, labels.get(text.code, "")) if text else (one, None, "") for one, text in texts],
        "choices": [*Verdict.choices, ("none", _("Not screened yet"))],
        "show": verdict,
        "refused": code,
        "refused_label": labels.get(code, ""),
        "query": f"show={verdict}&refused={code}" if verdict or code else "",
        "may_review": person(request).has_perm(queries.REVIEW),
    }
    return render(request, "campaigns/campaign_works.html", context)


@campaign_page(queries.RUN)
@require_http_methods(["GET", "HEAD", "POST"])
def campaign_screen(request: HttpRequest, campaign_id: uuid.UUID) -> HttpResponse:
    """Say what screening comes to, and start it."""
    row = found(campaign_id)
    last = included.current_round(row)
    if request.method != "POST":
        form = CriteriaForm(initial={"criteria": "" if last is None else last.criteria})
        return _screen_page(request, row, form)
    form = CriteriaForm(request.POST)
    if not form.is_valid():
        return _screen_page(request, row, form)
    criteria, most = form.cleaned_data["criteria"], form.cleaned_data["max_tokens"]
    try:
        if request.POST.get("do") != "start":
            estimate = screening.estimate(row, criteria, model=screening.configured_model())
            return _screen_page(request, row, form, estimate.sentences())
        run = starting.screen(
            campaign=row, criteria=criteria, by=person(request), is_for_workers=True, cap=Cap(max_tokens=most)
        )
    except starting.REFUSALS as error:
        form.add_error(None, str(error))
        return _screen_page(request, row, form)
    background.call(run)
    return HttpResponseRedirect(reverse("campaign_run", args=[run.pk]))


def _screen_page(
    request: HttpRequest, row: Campaign, form: CriteriaForm, estimate: list[str] | None = None
) -> HttpResponse:
    context = {"campaign": row, "form": form, "estimate": estimate, "round": included.current_round(row)}
    return render(request, "campaigns/campaign_screen.html", context, status=422 if form.errors else 200)


@campaign_page(queries.RUN)
@require_POST
def campaign_build(request: HttpRequest, campaign_id: uuid.UUID) -> HttpResponse:
    """Look the included works up, or build the collection."""
    row = found(campaign_id)
    try:
        run = starting.build(
            campaign=row,
            by=person(request),
            is_for_workers=True,
            dry_run=request.POST.get("do") != "build",
            again=request.POST.get("again") == "on",
        )
    except starting.REFUSALS as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(reverse("campaign", args=[row.pk]))
    background.call(run)
    return HttpResponseRedirect(reverse("campaign_run", args=[run.pk]))


def found(campaign_id: uuid.UUID) -> Campaign:
    """Return a campaign, or what a missing one gives."""
    row = queries.find(campaign_id)
    if row is None:
        raise Http404
    return row
