"""Requests for access: who wants what, what the corpus holds of it, and the decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corpus import explaining
from corpus.access_requests import LONGEST_REASON, AccessRequest
from corpus.actions import access_requests
from corpus.actions.access_requests import AccessRequestError
from corpus.admin_base import ReadOnlyAdmin, TextareaWidget, badge, covered_documents, display

if TYPE_CHECKING:
    from django.contrib.auth.models import User

_STATE_TONES = {AccessRequest.State.OPEN: "caution", AccessRequest.State.GRANTED: "good"}


class DecisionForm(forms.Form):
    """What whoever asked will read."""

    note = forms.CharField(
        label=gettext_lazy("Note"),
        required=False,
        max_length=LONGEST_REASON,
        widget=TextareaWidget(attrs={"rows": 3}),
        help_text=gettext_lazy("Whoever asked reads this. A refusal needs one."),
    )


@admin.register(AccessRequest)
class AccessRequestAdmin(ReadOnlyAdmin[AccessRequest]):
    """Requests, the open ones first."""

    list_display = ("wanted_link", "asked_by", "since", "state_badge", "decided")
    list_display_links = None
    list_filter = ("state",)
    list_select_related = ("asked_by",)
    search_fields = ("wanted", "asked_by__username")
    date_hierarchy = "created_at"
    ordering = ("-state", "created_at", "id")

    def has_decide_permission(self, request: HttpRequest) -> bool:
        """Say whether the viewer may decide."""
        return request.user.has_perm(access_requests.PERMISSION)

    def get_urls(self) -> list[URLPattern]:
        """Add the page of one request."""

        def decide(request: HttpRequest, request_id: int) -> HttpResponse:
            return self.decide(request, request_id)

        return [
            path(
                "<int:request_id>/decide/",
                self.admin_site.admin_view(decide),
                name="corpus_accessrequest_decide",
            ),
            *super().get_urls(),
        ]

    def decide(self, request: HttpRequest, request_id: int) -> HttpResponse:
        """Show one request with what is held of it, or do what was decided."""
        if not self.has_decide_permission(request):
            raise PermissionDenied
        wish = get_object_or_404(self.get_queryset(request), pk=request_id)
        form = DecisionForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            user: User = request.user  # type: ignore[assignment]
            try:
                access_requests.decide(
                    ids=[wish.pk], grant="grant" in request.POST, note=form.cleaned_data["note"], by=user
                )
            except AccessRequestError as refusal:
                form.add_error("note", str(refusal))
            else:
                messages.success(request, _("Decided. Whoever asked finds it beside the request."))
                return redirect(f"{reverse('admin:corpus_accessrequest_changelist')}?state__exact=open")
        documents = covered_documents(request)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Request for access"),
            "opts": self.opts,
            "wish": wish,
            "is_open": wish.state == AccessRequest.State.OPEN,
            "found": explaining.explain(
                wish.wanted, documents=documents, person=explaining.of(wish.asked_by)
            ),
            "not_held": explaining.not_held(wish.wanted, documents=documents, knows_all=False),
            "form": form,
        }
        status = 422 if form.errors else 200
        return TemplateResponse(request, "admin/corpus/access_request.html", context, status=status)

    @display(description=gettext_lazy("wanted"), ordering="wanted")
    def wanted_link(self, wish: AccessRequest) -> SafeString:
        """Link to the page where it is decided."""
        address = reverse("admin:corpus_accessrequest_decide", args=[wish.pk])
        text = wish.wanted if len(wish.wanted) <= 90 else f"{wish.wanted[:89]}…"
        return format_html('<a href="{}">{}</a>', address, text)

    @display(description=gettext_lazy("since"), ordering="created_at")
    def since(self, wish: AccessRequest) -> str:
        """Show the day."""
        return f"{wish.created_at:%Y-%m-%d}"

    @display(description=gettext_lazy("state"), ordering="state")
    def state_badge(self, wish: AccessRequest) -> SafeString:
        """Show the state in words."""
        return badge(wish.get_state_display(), _STATE_TONES.get(AccessRequest.State(wish.state), "plain"))

    @display(description=gettext_lazy("decided"), ordering="decided_at")
    def decided(self, wish: AccessRequest) -> str:
        """Say who decided and when."""
        return "" if wish.decided_at is None else f"{wish.decided_by_name}, {wish.decided_at:%Y-%m-%d}"
