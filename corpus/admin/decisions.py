"""The log of rights decisions: to be read, never to be changed."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corpus.admin_base import ReadOnlyAdmin, covered_documents, display, license_badge
from corpus.ceilings import of as ceiling_of
from corpus.models import Document, RightsDecision
from corpus.rights import parse_class, raises
from corpus.scope import EVERYTHING

# What the report of a change and the page of a document link to.
_LINKED_FILTERS = {"decided_at__exact", "decided_by", "document__id__exact"}


@admin.register(RightsDecision)
class RightsDecisionAdmin(ReadOnlyAdmin[RightsDecision]):
    """Every change of a licence class, with who decided and on what ground."""

    list_display = ("decided", "document_name", "change", "who", "ground", "note")
    list_display_links = ("decided",)
    list_filter = ("to_class", "from_class", "process", "decided_by_name")
    search_fields = ("document_title", "evidence", "signal", "note")
    date_hierarchy = "decided_at"
    ordering = ("-decided_at", "-id")
    fields = ("decided", "document_link", "change", "who", "signal", "evidence", "note", "undoing")
    readonly_fields = fields

    def visible(self, rows: QuerySet[RightsDecision], request: HttpRequest) -> QuerySet[RightsDecision]:
        """Keep decisions on covered documents; on removed ones for those who may see everything."""
        about = Q(document__in=covered_documents(request).values("id"))
        if ceiling_of(request.user) == EVERYTHING:
            about |= ~Q(document__in=Document.objects.order_by().values("id"))
        return rows.filter(about)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Allow the filters that other screens link to."""
        return lookup in _LINKED_FILTERS or super().lookup_allowed(lookup, value, request)

    @display(description=gettext_lazy("decided"), ordering="decided_at")
    def decided(self, decision: RightsDecision) -> str:
        """Show the moment."""
        return f"{decision.decided_at:%Y-%m-%d %H:%M}"

    @display(description=gettext_lazy("document"), ordering="document_title")
    def document_name(self, decision: RightsDecision) -> str:
        """Name the document. The name goes with the document; its number stays."""
        return decision.document_title or str(decision.document_id)

    @display(description=gettext_lazy("change"))
    def change(self, decision: RightsDecision) -> SafeString:
        """Show both classes and which way it went."""
        before, after = parse_class(decision.from_class), parse_class(decision.to_class)
        moved = _("raised") if raises(before, after) else _("lowered")
        return format_html(
            '{} <span class="quiet">→</span> {} <span class="quiet">{}</span>',
            license_badge(decision.from_class),
            license_badge(decision.to_class),
            _("confirmed") if before is after else moved,
        )

    @display(description=gettext_lazy("who"), ordering="decided_by_name")
    def who(self, decision: RightsDecision) -> str:
        """Name the person, or the process with a word that says it is one."""
        return decision.decided_by_name or _("%s (software)") % decision.process

    @display(description=gettext_lazy("undoes"))
    def undoing(self, decision: RightsDecision) -> SafeString | str:
        """Link to the decision that this one takes back."""
        if decision.undoes_id is None:
            return ""
        address = reverse("admin:corpus_rightsdecision_change", args=[decision.undoes_id])
        return format_html('<a href="{}">{}</a>', address, _("decision %d") % decision.undoes_id)

    @display(description=gettext_lazy("evidence or signal"))
    def ground(self, decision: RightsDecision) -> str:
        """Show what it rests on, cut short."""
        text = decision.evidence or decision.signal
        return text if len(text) <= 80 else f"{text[:79]}…"

    @display(description=gettext_lazy("document"))
    def document_link(self, decision: RightsDecision) -> SafeString | str:
        """Link to the document while it exists."""
        if not Document.objects.filter(pk=decision.document_id).exists():
            return _("%s (removed since)") % self.document_name(decision)
        address = reverse("admin:corpus_document_change", args=[decision.document_id])
        return format_html('<a href="{}">{}</a>', address, decision.document_title)
