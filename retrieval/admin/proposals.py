"""Pairs of entities that might be one, in every state. The open ones are decided on in the queue."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import URLPattern
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy, ngettext

from corpus.admin_base import ReadOnlyAdmin, badge, display
from corpus.signed_in import person
from retrieval.admin import queue
from retrieval.graph import deciding
from retrieval.graph.actions import resolution
from retrieval.graph.resolution_models import MergeProposal

_TONES = {
    MergeProposal.State.PROPOSED: "caution",
    MergeProposal.State.APPROVED: "good",
    MergeProposal.State.NEVER: "danger",
}


@admin.register(MergeProposal)
class MergeProposalAdmin(ReadOnlyAdmin[MergeProposal]):
    """What was proposed and decided, the latest first."""

    list_display = ("pair", "tier", "method", "confidence", "state_badge", "decided")
    list_display_links = None
    list_filter = ("state", "tier", "low__type")
    list_select_related = ("low", "high")
    search_fields = ("low__name", "high__name")
    ordering = ("-decided_at", "tier", "id")
    actions = ("ask_again",)  # type: ignore[assignment]

    def visible(self, rows: QuerySet[MergeProposal], request: HttpRequest) -> QuerySet[MergeProposal]:
        """Show them to who may see every document: names come from all of them."""
        return deciding.visible(rows, request)

    def has_decide_permission(self, request: HttpRequest) -> bool:
        """Say whether the viewer may decide."""
        return deciding.may_decide(request.user)

    def get_urls(self) -> list[URLPattern]:
        """Add the queue."""
        return [*queue.urls(self.admin_site), *super().get_urls()]

    @admin.action(description=gettext_lazy("Ask again"), permissions=["decide"])
    def ask_again(self, request: HttpRequest, queryset: QuerySet[MergeProposal]) -> None:
        """Open refused pairs again."""
        count = resolution.ask_again(proposals=list(queryset), by=person(request))
        text = ngettext("%d pair waits again.", "%d pairs wait again.", count) % count
        self.message_user(request, text, messages.SUCCESS if count else messages.WARNING)

    @display(description=gettext_lazy("pair"))
    def pair(self, row: MergeProposal) -> SafeString:
        """Name both sides with their types."""
        return format_html(
            '<span>{} <span class="quiet">{}</span> · {} <span class="quiet">{}</span></span>',
            row.low.name, row.low.type, row.high.name, row.high.type,
        )  # fmt: skip

    @display(description=gettext_lazy("state"), ordering="state")
    def state_badge(self, row: MergeProposal) -> SafeString:
        """Show the state in words."""
        return badge(row.get_state_display(), _TONES.get(MergeProposal.State(row.state), "plain"))

    @display(description=gettext_lazy("decided"), ordering="decided_at")
    def decided(self, row: MergeProposal) -> str:
        """Say who decided and when."""
        if row.decided_at is None:
            return ""
        return f"{row.decided_by_name or 'software'}, {row.decided_at:%Y-%m-%d %H:%M}"
