"""The queue of merges: both sides of each pair, decided on by mouse or keyboard, one or many at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from corpus.signed_in import person
from retrieval.graph import deciding, merge_queue
from retrieval.graph.actions import resolution, taking_back
from retrieval.graph.actions.resolution import State
from retrieval.graph.holding import Busy
from retrieval.graph.joining import Refusal
from retrieval.graph.merge_queue import TIERS, Filters
from retrieval.graph.models import Entity
from retrieval.graph.resolution_models import MergeProposal

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite

PER_PAGE = 20
# What one form may carry; more is decided in several rounds.
LIMIT = 5_000
_LISTED = 20

CHOICES = {
    "approve": (State.APPROVED, gettext_lazy("Make one")),
    "reject": (State.REJECTED, gettext_lazy("Reject")),
    "never": (State.NEVER, gettext_lazy("Different, never ask again")),
}
KEYS = {"approve": "a", "swap": "s", "reject": "r", "never": "d"}
TIER_WORDS = {
    "1": gettext_lazy("Tier 1: the same name"),
    "2": gettext_lazy("Tier 2: a list, a short form or a slip"),
    "3": gettext_lazy("Tier 3: a model’s judgement"),
}
REFUSALS = {
    Refusal.GONE: gettext_lazy("gone with their documents"),
    Refusal.DECIDED: gettext_lazy("decided meanwhile, by somebody else or on another page"),
    Refusal.ONE_ALREADY: gettext_lazy("one already"),
    Refusal.DIFFERENT: gettext_lazy("somebody said that two of their names are different things"),
    Refusal.TAKEN_APART: gettext_lazy("taken apart by a person before"),
}


def urls(site: AdminSite) -> list[URLPattern]:
    """Return the routes of the queue."""

    def shown(request: HttpRequest) -> HttpResponse:
        return show(request, site)

    def decided(request: HttpRequest) -> HttpResponse:
        return decide(request, site)

    return [
        path("queue/", site.admin_view(shown), name="retrieval_mergeproposal_queue"),
        path("queue/decide/", site.admin_view(decided), name="retrieval_mergeproposal_queue_decide"),
        path("queue/undo/", site.admin_view(take_back), name="retrieval_mergeproposal_queue_undo"),
    ]


def show(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """Show a page of what waits, narrowed by the filters of the address."""
    if not request.user.has_perm(resolution.PERMISSION):
        raise PermissionDenied
    filters = Filters.of(request.GET.dict())
    sees_all = deciding.sees_all(request.user)
    waiting = merge_queue.waiting() if sees_all else MergeProposal.objects.none()
    pairs = merge_queue.narrowed(waiting, filters)
    listed = Paginator(pairs.select_related("low", "high"), PER_PAGE).get_page(request.GET.get("page", "1"))
    context = {
        **site.each_context(request),
        "title": _("Entities that may be one"),
        "opts": MergeProposal._meta,
        "sees_all": sees_all,
        "rows": merge_queue.rows(listed.object_list),
        "listed": listed,
        "total": listed.paginator.count,
        "query": filters.query(),
        **_narrowing(waiting, filters),
        "choices": [(name, label, KEYS[name]) for name, (_state, label) in CHOICES.items()],
        "keys": KEYS,
        "last": taking_back.last_decision(person(request)),
    }
    return TemplateResponse(request, "admin/retrieval/merge_queue.html", context)


def decide(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """Decide on one pair at once, or show what a decision on many would do, or do that."""
    deciding.require(request)
    filters = Filters.of(dict(parse_qsl(request.POST.get("filters", ""))))
    page = request.POST.get("page", "1")
    if request.method != "POST":
        return redirect_to(filters, page)
    one, _colon, choice = request.POST.get("one", "").rpartition(":")
    choice, keep = _kept(choice or request.POST.get("choice", ""))
    pairs = _chosen(request, one, filters)
    if choice not in CHOICES or not pairs or len(pairs) > LIMIT:
        messages.error(request, _nothing(pairs))
        return redirect_to(filters, page)
    if not (one or request.POST.get("apply")):
        return _preview(request, site, pairs, choice, filters, page)
    try:
        outcome = resolution.decide(proposals=pairs, state=CHOICES[choice][0], by=person(request), keep=keep)
    except Busy as busy:
        messages.error(request, str(busy))
        return redirect_to(filters, page)
    if outcome.decided:
        messages.success(request, _done(choice, outcome.decided))
    for text in _told(outcome.refused):
        messages.warning(request, text)
    return redirect_to(filters, page)


def take_back(request: HttpRequest) -> HttpResponse:
    """Take back the decision of the moment that the form names."""
    deciding.require(request)
    filters = Filters.of(dict(parse_qsl(request.POST.get("filters", ""))))
    at = _moment(request.POST.get("at", ""))
    if request.method == "POST":
        try:
            count, refused = (0, ()) if at is None else taking_back.take_back(by=person(request), at=at)
        except Busy as busy:
            messages.error(request, str(busy))
            return redirect_to(filters, request.POST.get("page", "1"))
        if count:
            text = ngettext("%d decision was taken back.", "%d decisions were taken back.", count)
            messages.success(request, text % count)
        elif not refused:
            messages.error(request, _("Nothing was taken back: it was decided on since, or too long ago."))
        for refusal in refused[:_LISTED]:
            messages.warning(request, _("One stays as it is. %s") % refusal)
    return redirect_to(filters, request.POST.get("page", "1"))


def redirect_to(filters: Filters, page: str) -> HttpResponseRedirect:
    """Return to the list as it was narrowed."""
    query = "&".join(part for part in (filters.query(), f"page={page}" if page.isdecimal() else "") if part)
    return HttpResponseRedirect(f"{reverse('admin:retrieval_mergeproposal_queue')}?{query}")


def _preview(
    request: HttpRequest,
    site: AdminSite,
    pairs: Sequence[MergeProposal],
    choice: str,
    filters: Filters,
    page: str,
) -> HttpResponse:
    steps, refused = resolution.plan(proposals=pairs) if choice == "approve" else ([], Counter[Refusal]())
    count = len(steps) if choice == "approve" else len(pairs)
    shown = Entity.objects.in_bulk([end for step in steps[:_LISTED] for end in (step.winner, step.loser)])
    closing = [(pair.low, pair.high) for pair in pairs[:_LISTED]] if choice != "approve" else []
    context = {
        **site.each_context(request),
        "title": _heading(choice, count),
        "opts": MergeProposal._meta,
        "chosen": ",".join(str(pair.pk) for pair in pairs),
        "choice": choice,
        "label": CHOICES[choice][1],
        "count": count,
        "tiers": sorted(Counter(TIER_WORDS[str(pair.tier)] for pair in pairs).items(), key=str),
        "merges": [(shown[step.winner], shown[step.loser]) for step in steps[:_LISTED]],
        "closing": closing,
        "more": count - _LISTED,
        "refused": [(REFUSALS[reason], number) for reason, number in refused.items()],
        "query": filters.query(),
        "page": page,
        "back": redirect_to(filters, page).url,
    }
    return TemplateResponse(request, "admin/retrieval/merge_preview.html", context)


def _narrowing(waiting: Any, filters: Filters) -> dict[str, Any]:
    """Return what the list can be narrowed to, and the tiers that can be approved as they are narrowed."""
    tiers, types = merge_queue.counts(waiting)
    matching = merge_queue.counts(merge_queue.narrowed(waiting, filters))[0]
    return {
        "filters": filters,
        "tiers": [(tier, TIER_WORDS[tier], tiers[tier]) for tier in TIERS],
        "types": [(name, name.replace("_", " "), number) for name, number in sorted(types.items())],
        "approvable": [(tier, matching[tier]) for tier in TIERS if matching[tier]],
    }


def _chosen(request: HttpRequest, one: str, filters: Filters) -> list[MergeProposal]:
    """Return the open pairs that a form names: one, those ticked, or all of the list or of a tier."""
    tier = request.POST.get("tier", "")
    if not one and (request.POST.get("all_matching") or tier in TIERS):
        wanted = filters.of_tier(tier) if tier in TIERS else filters
        found = merge_queue.narrowed(merge_queue.waiting(), wanted)
    else:
        given = [one] if one else ",".join(request.POST.getlist("pairs")).split(",")
        ids = {int(text) for text in given if text.isdecimal() and len(text) < 19}
        # In whatever state: what was decided meanwhile is told, not passed over.
        found = MergeProposal.objects.filter(pk__in=ids).order_by("tier", "-confidence", "id")
    return list(found.select_related("low", "high")[: LIMIT + 1])


def _kept(choice: str) -> tuple[str, UUID | None]:
    """Read a choice, and which side somebody said stays."""
    name, _colon, kept = choice.partition("=")
    if name != "swap":
        return choice, None
    try:
        return "approve", UUID(kept)
    except ValueError:
        return "", None


def _heading(choice: str, count: int) -> str:
    if choice == "approve":
        return ngettext("Make %d pair one", "Make %d pairs one", count) % count
    if choice == "reject":
        return ngettext("Reject %d pair", "Reject %d pairs", count) % count
    return ngettext("Mark %d pair as different", "Mark %d pairs as different", count) % count


def _done(choice: str, count: int) -> str:
    if choice == "approve":
        return ngettext("%d pair was made one.", "%d pairs were made one.", count) % count
    if choice == "reject":
        return ngettext("%d pair was rejected.", "%d pairs were rejected.", count) % count
    return (
        ngettext("%d pair is never asked about again.", "%d pairs are never asked about again.", count)
        % count
    )


def _told(refused: Counter[Refusal]) -> Iterable[str]:
    for reason, count in refused.items():
        text = ngettext(
            "%(count)d pair was left as it is: %(why)s.",
            "%(count)d pairs were left as they are: %(why)s.",
            count,
        )
        if count:
            yield text % {"count": count, "why": REFUSALS[reason]}


def _nothing(pairs: Sequence[MergeProposal]) -> str:
    if len(pairs) > LIMIT:
        return _("Choose at most %d pairs at a time: narrow the list.") % LIMIT
    return _("Choose pairs first.") if not pairs else _("Choose what to do with them.")


def _moment(text: str) -> datetime | None:
    try:
        at = parse_datetime(text)
    except ValueError:
        return None
    return at if at is not None and at.tzinfo is not None else None
