"""The inbox of suggestions: each says what, why and about which document; a person says yes or no."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from corpus import review_queue
from corpus.actions import review
from corpus.actions.review import ReviewError
from corpus.actions.rights import RightsError
from corpus.actions.supersession import SupersessionError
from corpus.admin import queue
from corpus.admin_base import (
    ReadOnlyAdmin,
    TextareaWidget,
    TextInputWidget,
    badge,
    covered_documents,
    display,
    license_badge,
)
from corpus.curation import ReviewItem

if TYPE_CHECKING:
    from django.contrib.auth.models import User

_STATE_TONES = {ReviewItem.State.OPEN: "caution", ReviewItem.State.ACCEPTED: "good"}
_REFUSALS = (ReviewError, RightsError, SupersessionError)


class DecisionForm(forms.Form):
    """What a person says with their decision."""

    evidence = forms.CharField(
        label=gettext_lazy("Evidence"),
        required=False,
        max_length=4000,
        widget=TextareaWidget(attrs={"rows": 3}),
        help_text=gettext_lazy(
            "The address of the licence or a quotation of it. The signal below counts when this is empty."
        ),
    )
    note = forms.CharField(
        label=gettext_lazy("Reason"), required=False, max_length=1000, widget=TextInputWidget
    )


@admin.register(ReviewItem)
class ReviewItemAdmin(ReadOnlyAdmin[ReviewItem]):
    """Suggestions, the open ones first."""

    list_display = ("document_link", "suggested", "reason", "signal", "opened", "state_badge", "decided")
    list_display_links = None
    list_filter = ("state", "kind", "document__license_class", "document__bucket")
    list_select_related = ("document", "other")
    search_fields = ("document__title", "reason")
    date_hierarchy = "opened_at"
    ordering = ("-state", "opened_at", "id")
    actions = ("accept", "reject")  # type: ignore[assignment]

    def visible(self, rows: QuerySet[ReviewItem], request: HttpRequest) -> QuerySet[ReviewItem]:
        """Keep the suggestions all of whose documents the viewer's ceiling covers."""
        covered = covered_documents(request).values("id")
        return rows.filter(Q(other__isnull=True) | Q(other__in=covered), document__in=covered)

    def has_decide_permission(self, request: HttpRequest) -> bool:
        """Say whether the viewer may decide."""
        return request.user.has_perm(review.PERMISSION)

    def get_urls(self) -> list[URLPattern]:
        """Add the review queue and the page of one suggestion."""

        def decide(request: HttpRequest, item_id: int) -> HttpResponse:
            return self.decide(request, item_id)

        return [
            *queue.urls(self.admin_site),
            path(
                "<int:item_id>/decide/", self.admin_site.admin_view(decide), name="corpus_reviewitem_decide"
            ),
            *super().get_urls(),
        ]

    def decide(self, request: HttpRequest, item_id: int) -> HttpResponse:
        """Show one suggestion with what speaks for it, or do what was decided."""
        if not self.has_decide_permission(request):
            raise PermissionDenied
        item = get_object_or_404(self.get_queryset(request), pk=item_id)
        form = DecisionForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            refusal = _decided(request, item, form.cleaned_data)
            if refusal is None:
                return redirect(f"{reverse('admin:corpus_reviewitem_changelist')}?state__exact=open")
            form.add_error("evidence", refusal)
        context = {
            **self.admin_site.each_context(request),
            "title": item.get_kind_display(),
            "opts": self.opts,
            "item": item,
            "is_license": item.kind in review_queue.KINDS,
            "is_claim": item.kind == ReviewItem.Kind.CLAIMED_RETRACTION,
            "is_open": item.state == ReviewItem.State.OPEN,
            "suggested": self.suggested(item),
            "held": license_badge(item.document.license_class),
            "form": form,
        }
        status = 422 if form.errors else 200
        return TemplateResponse(request, "admin/corpus/review_item.html", context, status=status)

    @admin.action(description=gettext_lazy("Accept"), permissions=["decide"])
    def accept(self, request: HttpRequest, queryset: QuerySet[ReviewItem]) -> None:
        """Do what the chosen ones suggest: all of them or none."""
        user: User = request.user  # type: ignore[assignment]
        try:
            count = review.accept(items=queryset, by=user)
        except _REFUSALS as refusal:
            messages.error(request, _("Nothing was accepted. %s") % refusal)
        else:
            messages.success(request, ngettext("%d accepted.", "%d accepted.", count) % count)

    @admin.action(description=gettext_lazy("Reject"), permissions=["decide"])
    def reject(self, request: HttpRequest, queryset: QuerySet[ReviewItem]) -> None:
        """Close the chosen ones: all of them or none."""
        user: User = request.user  # type: ignore[assignment]
        try:
            count = review.reject(items=queryset, by=user)
        except _REFUSALS as refusal:
            messages.error(request, _("Nothing was rejected. %s") % refusal)
        else:
            messages.success(request, ngettext("%d rejected.", "%d rejected.", count) % count)

    @display(description=gettext_lazy("document"), ordering="document__title")
    def document_link(self, item: ReviewItem) -> SafeString:
        """Link to the page where it is decided."""
        address = reverse("admin:corpus_reviewitem_decide", args=[item.pk])
        return format_html('<a href="{}">{}</a>', address, item.document.title)

    @display(description=gettext_lazy("suggestion"), ordering="kind")
    def suggested(self, item: ReviewItem) -> SafeString:
        """Show what would be done."""
        if item.kind in review_queue.KINDS:
            held, named = item.document.license_class, item.suggestion.get("license_class")
            target = license_badge(named) if named else _("to be decided")
            return format_html('{} <span class="quiet">→</span> {}', license_badge(held), target)
        if item.kind == ReviewItem.Kind.CLAIMED_RETRACTION:
            return badge(_("Retracted?"), "danger")
        title = item.other.title if item.other is not None else _("a document that is gone")
        return format_html("{} “{}”", _("superseded by"), title)

    @display(description=gettext_lazy("signal"))
    def signal(self, item: ReviewItem) -> str:
        """Show what it rests on, cut short."""
        text = str(item.suggestion.get("signal", ""))
        return text if len(text) <= 80 else f"{text[:79]}…"

    @display(description=gettext_lazy("since"), ordering="opened_at")
    def opened(self, item: ReviewItem) -> str:
        """Show the day."""
        return f"{item.opened_at:%Y-%m-%d}"

    @display(description=gettext_lazy("state"), ordering="state")
    def state_badge(self, item: ReviewItem) -> SafeString:
        """Show the state in words."""
        return badge(item.get_state_display(), _STATE_TONES.get(ReviewItem.State(item.state), "plain"))

    @display(description=gettext_lazy("decided"), ordering="decided_at")
    def decided(self, item: ReviewItem) -> str:
        """Say who decided and when."""
        if item.decided_at is None:
            return ""
        return f"{item.decided_by_name or _('the manifest')}, {item.decided_at:%Y-%m-%d}"


def _decided(request: HttpRequest, item: ReviewItem, said: dict[str, Any]) -> str | None:
    """Do what the pressed button says; return why it was refused, if it was."""
    user: User = request.user  # type: ignore[assignment]
    try:
        if "accept" in request.POST:
            review.accept(items=[item], by=user, evidence=said["evidence"], note=said["note"])
            messages.success(request, _("Accepted and done."))
        else:
            review.reject(items=[item], by=user, note=said["note"])
            messages.success(request, _("Rejected. It is not suggested again on the same ground."))
    except _REFUSALS as refusal:
        return str(refusal)
    return None
