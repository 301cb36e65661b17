"""Ingestion runs and what happened to each file. Machines write these; people read them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.filters import SimpleListFilter
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corpus.admin_base import ReadOnlyAdmin, about_covered_documents, badge, display
from corpus.models import IngestionItem, IngestionRun
from corpus.waiting import unresolved_failures

_OUTCOME_TONES = {
    IngestionItem.Outcome.READY: "good",
    IngestionItem.Outcome.NEEDS_OCR: "caution",
    IngestionItem.Outcome.FAILED: "danger",
}
_RUN_TONES = {IngestionRun.State.FINISHED: "good", IngestionRun.State.FAILED: "danger"}


class UnresolvedFilter(SimpleListFilter):
    """Failures that no later run has made good."""

    title = gettext_lazy("still failing")
    parameter_name = "unresolved"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the choices."""
        return [("yes", _("Failed, and not taken in since"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the files of the choice."""
        return (
            queryset.filter(pk__in=unresolved_failures().values("pk")) if self.value() == "yes" else queryset
        )


@admin.register(IngestionRun)
class IngestionRunAdmin(ReadOnlyAdmin[IngestionRun]):
    """Requests to take files in."""

    list_display = ("origin", "state_badge", "outcomes", "started_by", "started_at", "finished_at")
    list_filter = ("state", "started_by")
    list_select_related = ("started_by",)
    search_fields = ("origin",)
    date_hierarchy = "started_at"
    ordering = ("-started_at", "id")
    fields = ("origin", "state_badge", "outcomes", "started_by", "started_at", "finished_at", "parameters")
    readonly_fields = fields

    def visible(self, rows: QuerySet[IngestionRun], request: HttpRequest) -> QuerySet[IngestionRun]:
        """Count the files of each outcome that the viewer may know of."""
        mine = IngestionItem.objects.filter(about_covered_documents(request, lookup="document"))
        return rows.annotate(
            **{
                f"count_{outcome}": Count(
                    "items", filter=Q(items__outcome=outcome, items__in=mine.order_by().values("pk"))
                )
                for outcome in IngestionItem.Outcome.values
            }
        )

    @display(description=gettext_lazy("state"), ordering="state")
    def state_badge(self, run: IngestionRun) -> SafeString:
        """Show the state in words."""
        return badge(run.get_state_display(), _RUN_TONES.get(IngestionRun.State(run.state), "plain"))

    @display(description=gettext_lazy("files"))
    def outcomes(self, run: IngestionRun) -> SafeString:
        """Show how many files had each outcome, as links to them."""
        files = reverse("admin:corpus_ingestionitem_changelist")
        links = (
            (
                files,
                urlencode({"run__id__exact": str(run.pk), "outcome__exact": outcome.value}),
                badge(f"{count} {outcome.label.lower()}", _OUTCOME_TONES.get(outcome, "plain")),
            )
            for outcome in IngestionItem.Outcome
            if (count := getattr(run, f"count_{outcome.value}", 0))
        )
        return format_html_join(" ", '<a href="{}?{}">{}</a>', links) or format_html("{}", _("None"))


@admin.register(IngestionItem)
class IngestionItemAdmin(ReadOnlyAdmin[IngestionItem]):
    """What happened to each file, and why."""

    list_display = ("path", "outcome_badge", "reason", "detail", "document_link", "run_started")
    list_filter = ("outcome", UnresolvedFilter, "reason")
    list_select_related = ("document", "run")
    search_fields = ("path", "detail")
    ordering = ("-id",)
    fields = ("path", "outcome_badge", "reason", "detail", "document_link", "run", "seconds")
    readonly_fields = fields

    def visible(self, rows: QuerySet[IngestionItem], request: HttpRequest) -> QuerySet[IngestionItem]:
        """Keep the files whose document the viewer's ceiling covers."""
        return rows.filter(about_covered_documents(request, lookup="document"))

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Allow the filter that the runs link to."""
        return lookup == "run__id__exact" or super().lookup_allowed(lookup, value, request)

    @display(description=gettext_lazy("outcome"), ordering="outcome")
    def outcome_badge(self, item: IngestionItem) -> SafeString:
        """Show the outcome in words."""
        tone = _OUTCOME_TONES.get(IngestionItem.Outcome(item.outcome), "plain")
        return badge(item.get_outcome_display(), tone)

    @display(description=gettext_lazy("document"))
    def document_link(self, item: IngestionItem) -> SafeString | str:
        """Link to the document that came of it."""
        if item.document is None:
            return ""
        address = reverse("admin:corpus_document_change", args=[item.document_id])
        return format_html('<a href="{}">{}</a>', address, item.document.title)

    @display(description=gettext_lazy("run"), ordering="run__started_at")
    def run_started(self, item: IngestionItem) -> str:
        """Show when the run began."""
        return f"{item.run.started_at:%Y-%m-%d %H:%M}"
