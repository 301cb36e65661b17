"""Campaigns, their runs and the log of screening, to look at. They are worked with on the site."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corpus.admin_base import M, ReadOnlyAdmin, badge, display
from corpus.campaigns import queries
from corpus.campaigns.models import Campaign, CampaignRun
from corpus.campaigns.screening_models import ScreeningDecision, Verdict
from corpus.signed_in import person

_TONES = {
    CampaignRun.State.FINISHED: "good",
    CampaignRun.State.FAILED: "danger",
    CampaignRun.State.CANCELLED: "caution",
}


class _CampaignScreen(ReadOnlyAdmin[M]):
    """A screen for those alone who see campaigns on the site."""

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Show it to whose ceiling covers everything."""
        return queries.may_look(person(request))

    def has_module_permission(self, request: HttpRequest) -> bool:
        """List it for the same people."""
        return request.user.is_authenticated and queries.may_look(person(request))


@admin.register(Campaign)
class CampaignAdmin(_CampaignScreen[Campaign]):
    """The list of campaigns, each with the way to its pages."""

    list_display = ("name", "works", "created_by_name", "created_at", "page")
    search_fields = ("name",)
    ordering = ("-created_at", "id")
    fields = ("name", "created_by_name", "created_at", "page")
    readonly_fields = ("page",)

    def visible(self, rows: QuerySet[Campaign], request: HttpRequest) -> QuerySet[Campaign]:
        """Bring the counts along."""
        return queries.campaigns()

    @display(description=gettext_lazy("works"))
    def works(self, row: Campaign) -> int:
        """Show how many works were found."""
        return int(getattr(row, "size", 0))

    @display(description=gettext_lazy("on the site"))
    def page(self, row: Campaign) -> SafeString:
        """Lead to the campaign's page."""
        return format_html('<a href="{}">{}</a>', reverse("campaign", args=[row.pk]), _("Open"))


@admin.register(CampaignRun)
class CampaignRunAdmin(_CampaignScreen[CampaignRun]):
    """What was done to campaigns, by whom, and how it ended."""

    list_display = ("campaign", "stage", "outcome", "done", "failed", "started_by_name", "started_at")
    list_filter = ("stage", "state")
    list_select_related = ("campaign",)
    ordering = ("-started_at", "id")
    exclude = ("parameters", "worker", "lease_until", "attempt")

    @display(description=gettext_lazy("outcome"), ordering="state")
    def outcome(self, row: CampaignRun) -> SafeString:
        """Show the state in words."""
        return badge(row.get_state_display(), _TONES.get(CampaignRun.State(row.state), "plain"))


@admin.register(ScreeningDecision)
class ScreeningDecisionAdmin(_CampaignScreen[ScreeningDecision]):
    """The log of screening: every decision there was, those that were taken back too."""

    list_display = ("work", "decided", "made_by", "code", "confidence", "decided_by_name", "decided_at")
    list_filter = ("made_by", "verdict", "code")
    list_select_related = ("screening__candidate", "screening__round__campaign")
    search_fields = ("screening__candidate__doi", "screening__candidate__title")
    ordering = ("-decided_at", "-id")

    @display(description=gettext_lazy("work"))
    def work(self, row: ScreeningDecision) -> str:
        """Show what was decided on, and in which round."""
        screening = row.screening
        return f"{screening.candidate} ({screening.round.campaign}, {screening.round})"

    @display(description=gettext_lazy("decision"), ordering="verdict")
    def decided(self, row: ScreeningDecision) -> SafeString:
        """Show the decision in words."""
        tone = {Verdict.INCLUDE: "good", Verdict.REVIEW: "caution"}.get(Verdict(row.verdict), "plain")
        return badge(row.get_verdict_display(), tone)
