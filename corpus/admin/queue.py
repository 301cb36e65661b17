"""The review queue: one page on which rights are decided, by mouse or by keyboard, one or many at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from corpus import review_queue
from corpus.actions import license_review
from corpus.actions.license_review import AS_IT_IS, SUGGESTED, Chosen, Plan, Refusal, Refused
from corpus.actions.rights import PERMISSION
from corpus.admin_base import TextareaWidget, TextInputWidget, license_badge
from corpus.curation import ReviewItem
from corpus.review_queue import AGES, Filters, Row
from corpus.rights import LABELS, LicenseClass
from corpus.visibility import seen_by

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite
    from django.contrib.auth.models import User

PER_PAGE = 50
# What one form may carry; more is decided in several rounds.
LIMIT = 5_000
_LISTED = 20

SIGNAL_LABELS = {
    "own_words": gettext_lazy("The document’s own words"),
    "address": gettext_lazy("An address"),
    "text": gettext_lazy("Other words"),
    "embargo": gettext_lazy("An embargo that ended"),
    "none": gettext_lazy("None"),
}
REFUSALS = {
    Refusal.DECIDED: gettext_lazy("decided meanwhile, by somebody else or on another page"),
    Refusal.NO_EVIDENCE: gettext_lazy("would allow more than before, and no evidence is given"),
    Refusal.NOTHING_SUGGESTED: gettext_lazy("no class is suggested"),
    Refusal.EMBARGO: gettext_lazy("under an embargo whose day has not come"),
    Refusal.NOT_THERE: gettext_lazy("not there, or not yours to decide"),
}
# The keys are on the buttons, and the script reads them from there.
KEYS = dict(zip(LicenseClass, "12345", strict=True))


class DecisionForm(forms.Form):
    """What a person says with a decision."""

    evidence = forms.CharField(
        label=gettext_lazy("Evidence"),
        required=False,
        max_length=4000,
        widget=TextareaWidget(attrs={"rows": 2}),
        help_text=gettext_lazy(
            "An address or a quotation. A signal counts as evidence for the class it suggests."
        ),
    )
    note = forms.CharField(
        label=gettext_lazy("Reason"), required=False, max_length=1000, widget=TextInputWidget
    )


def urls(site: AdminSite) -> list[URLPattern]:
    """Return the routes of the queue."""

    def shown(request: HttpRequest) -> HttpResponse:
        return show(request, site)

    def decided(request: HttpRequest) -> HttpResponse:
        return decide(request, site)

    return [
        path("queue/", site.admin_view(shown), name="corpus_reviewitem_queue"),
        path("queue/decide/", site.admin_view(decided), name="corpus_reviewitem_queue_decide"),
        path("queue/undo/", site.admin_view(take_back), name="corpus_reviewitem_queue_undo"),
    ]


def show(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """Show a page of what waits, narrowed by the filters of the address."""
    _require_permission(request)
    return _list(request, site, Filters.of(request.GET.dict()), request.GET.get("page", "1"), DecisionForm())


def decide(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """Decide on one document at once, or show what a decision on many would do, or do that."""
    _require_permission(request)
    filters = Filters.of(dict(parse_qsl(request.POST.get("filters", ""))))
    page = request.POST.get("page", "1")
    if request.method != "POST":
        return redirect_to(filters, page)
    form = DecisionForm(request.POST)
    one, _colon, choice = request.POST.get("one", "").rpartition(":")
    chosen = _chosen([one] if one else request.POST.getlist("documents"))
    choice = _choice(choice or request.POST.get("choice", ""))
    if request.POST.get("all_matching") and not one:
        chosen = _all_matching(request, filters)
    if not chosen or not choice or len(chosen) > LIMIT:
        messages.error(request, _nothing(chosen))
        return redirect_to(filters, page)
    if not form.is_valid() or not (one or request.POST.get("apply")):
        return _preview(request, site, chosen, choice, form, filters, page)
    return _decided(request, site, chosen, choice, form, filters, page)


def take_back(request: HttpRequest) -> HttpResponse:
    """Take back the decision of the moment that the form names."""
    _require_permission(request)
    filters = Filters.of(dict(parse_qsl(request.POST.get("filters", ""))))
    at = _moment(request.POST.get("at", ""))
    if request.method == "POST":
        count = 0 if at is None else license_review.undo(by=_user(request), at=at)
        if count:
            text = ngettext("%d decision was taken back.", "%d decisions were taken back.", count)
            messages.success(request, text % count)
        else:
            messages.error(request, _("Nothing was taken back: it was decided on since, or too long ago."))
    return redirect_to(filters, request.POST.get("page", "1"))


def redirect_to(filters: Filters, page: str) -> HttpResponseRedirect:
    """Return to the list as it was narrowed."""
    query = "&".join(part for part in (filters.query(), f"page={page}" if page.isdecimal() else "") if part)
    return HttpResponseRedirect(f"{reverse('admin:corpus_reviewitem_queue')}?{query}")


def _decided(
    request: HttpRequest,
    site: AdminSite,
    chosen: Sequence[Chosen],
    choice: str,
    form: DecisionForm,
    filters: Filters,
    page: str,
) -> HttpResponse:
    said = form.cleaned_data
    done = license_review.decide(
        chosen=chosen, choice=choice, by=_user(request), evidence=said["evidence"], note=said["note"]
    )
    if done.planned:
        text = ngettext("%d document decided on.", "%d documents decided on.", len(done.planned))
        messages.success(request, text % len(done.planned))
    for text in _told(done.refused):
        messages.warning(request, text)
    if not done.planned and any(one.reason is Refusal.NO_EVIDENCE for one in done.refused):
        form.add_error("evidence", _("This allows more than before: say on what ground."))
        return _list(request, site, filters, page, form)
    return redirect_to(filters, page)


def _list(
    request: HttpRequest, site: AdminSite, filters: Filters, page: str, form: DecisionForm
) -> HttpResponse:
    waiting = review_queue.waiting(request.user)
    listed = Paginator(review_queue.narrowed(waiting, filters), PER_PAGE).get_page(page)
    context = {
        **site.each_context(request),
        "title": _("Review queue"),
        "opts": ReviewItem._meta,
        "rows": [_shown(row) for row in review_queue.rows(listed.object_list)],
        "listed": listed,
        "total": listed.paginator.count,
        "filters": filters,
        "query": filters.query(),
        "narrowing": _narrowing(waiting, filters),
        "classes": _classes(),
        "form": form,
        "last": license_review.last_decision(_user(request)),
    }
    status = 422 if form.errors else 200
    return TemplateResponse(request, "admin/corpus/review_queue.html", context, status=status)


def _preview(
    request: HttpRequest,
    site: AdminSite,
    chosen: Sequence[Chosen],
    choice: str,
    form: DecisionForm,
    filters: Filters,
    page: str,
) -> HttpResponse:
    evidence = form.cleaned_data.get("evidence", "")
    plan = license_review.plan(chosen=chosen, choice=choice, by=_user(request), evidence=evidence)
    moves = Counter((one.before, one.after) for one in plan.planned)
    context = {
        **site.each_context(request),
        "title": _("What this decision does"),
        "opts": ReviewItem._meta,
        "chosen": ",".join(f"{one.document}:{one.seen}" for one in chosen),
        "choice": choice,
        "asked": _named(choice),
        "count": len(plan.planned),
        "moves": [
            (license_badge(before), license_badge(after), count, before is after)
            for (before, after), count in sorted(moves.items())
        ],
        "groups": seen_by((one.before, one.after, one.document.bucket) for one in plan.planned),
        "refused": _by_reason(plan),
        "needs_evidence": any(one.reason is Refusal.NO_EVIDENCE for one in plan.refused),
        "form": form,
        "query": filters.query(),
        "page": page,
        "back": redirect_to(filters, page).url,
    }
    status = 422 if form.errors else 200
    return TemplateResponse(request, "admin/corpus/review_queue_preview.html", context, status=status)


def _by_reason(plan: Plan) -> list[tuple[Any, int, list[str]]]:
    found = []
    for reason, text in REFUSALS.items():
        titles = [one.title for one in plan.refused if one.reason is reason]
        if titles:
            found.append((text, len(titles), [title for title in titles if title][:_LISTED]))
    return found


def _told(refused: Iterable[Refused]) -> list[str]:
    counts = Counter(one.reason for one in refused)
    return [_left(count) % {"count": count, "why": REFUSALS[reason]} for reason, count in counts.items()]


def _left(count: int) -> str:
    return ngettext(
        "%(count)d document was left as it is: %(why)s.",
        "%(count)d documents were left as they are: %(why)s.",
        count,
    )


def _shown(row: Row) -> dict[str, Any]:
    return {
        "document": row.document,
        "key": f"{row.document.pk}:{row.seen}",
        "held": license_badge(row.document.license_class),
        "suggested": None if row.suggested is None else license_badge(row.suggested),
        "suggested_name": "" if row.suggested is None else row.suggested.value,
        "signal": row.signal,
        "reason": row.reason,
        "statement": row.statement,
        "others": len(row.items) - 1 if row.items else 0,
        "since": row.since,
    }


def _classes() -> list[dict[str, str]]:
    return [{"value": item.value, "label": LABELS[item], "key": KEYS[item]} for item in LicenseClass]


def _narrowing(waiting: Any, filters: Filters) -> list[dict[str, Any]]:
    classes = [(item.value, LABELS[item]) for item in LicenseClass]
    buckets = waiting.order_by("bucket").values_list("bucket", flat=True).distinct()
    offered = (
        ("bucket", _("Bucket"), [(name, name) for name in buckets]),
        ("license_class", _("Held as"), classes),
        ("suggested", _("Suggested"), classes),
        ("signal", _("Signal"), list(SIGNAL_LABELS.items())),
        ("age", _("Waiting"), [(str(days), _days(days)) for days in AGES]),
    )
    return [
        {"name": name, "label": label, "choices": choices, "chosen": getattr(filters, name)}
        for name, label, choices in offered
    ]


def _days(days: int) -> str:
    return ngettext("%d day or more", "%d days or more", days) % days


def _named(choice: str) -> Any:
    if choice == SUGGESTED:
        return _("the class that is suggested for each")
    return _("leave as it is") if choice == AS_IT_IS else license_badge(choice)


def _chosen(given: Iterable[str]) -> list[Chosen]:
    """Read "id:decision" pairs, one to a field or joined by commas; what is none is left out."""
    found = {}
    for text in ",".join(given).split(","):
        document, _colon, seen = text.partition(":")
        try:
            found[UUID(document)] = int(seen)
        except ValueError:
            continue
    return [Chosen(document, seen) for document, seen in found.items()]


def _all_matching(request: HttpRequest, filters: Filters) -> list[Chosen]:
    documents = review_queue.narrowed(review_queue.waiting(request.user), filters)
    ids = list(documents.values_list("pk", flat=True)[: LIMIT + 1])
    newest = review_queue.newest_decisions(ids)
    return [Chosen(pk, newest.get(pk, 0)) for pk in ids]


def _choice(given: str) -> str:
    return given if given in {SUGGESTED, AS_IT_IS, *(item.value for item in LicenseClass)} else ""


def _nothing(chosen: Sequence[Chosen]) -> str:
    if len(chosen) > LIMIT:
        return _("Choose at most %d documents at a time: narrow the list.") % LIMIT
    return _("Choose documents first.") if not chosen else _("Choose what to do with them.")


def _moment(text: str) -> datetime | None:
    try:
        at = parse_datetime(text)
    except ValueError:
        return None
    return at if at is not None and at.tzinfo is not None else None


def _user(request: HttpRequest) -> User:
    user: User = request.user  # type: ignore[assignment]
    return user


def _require_permission(request: HttpRequest) -> None:
    if not request.user.has_perm(PERMISSION) or not request.user.has_perm("corpus.view_reviewitem"):
        raise PermissionDenied
