"""The log of merges and splits, from which each can be taken back."""

from __future__ import annotations

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import CharField, Exists, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corpus.admin_base import ReadOnlyAdmin, badge, display
from corpus.signed_in import person
from retrieval.graph import deciding
from retrieval.graph.actions import undoing
from retrieval.graph.actions.undoing import NotUndone
from retrieval.graph.holding import Busy
from retrieval.graph.models import Entity
from retrieval.graph.resolution_models import ResolutionAudit

_TONES = {ResolutionAudit.Act.MERGE: "good", ResolutionAudit.Act.SPLIT: "caution"}


@admin.register(ResolutionAudit)
class ResolutionAuditAdmin(ReadOnlyAdmin[ResolutionAudit]):
    """Every merge, split and undo, with who did it and how it was found."""

    list_display = ("number", "act_badge", "entities", "tier", "method", "confidence", "who", "when", "held")
    list_display_links = None
    list_filter = ("act", "tier", "method")
    search_fields = ("done_by_name",)
    date_hierarchy = "happened_at"
    ordering = ("-id",)

    def visible(self, rows: QuerySet[ResolutionAudit], request: HttpRequest) -> QuerySet[ResolutionAudit]:
        """Show them to who may see every document, with the names of entities that there are."""

        def name(end: str) -> Subquery:
            found = Entity.objects.filter(pk=OuterRef(end)).values("name")
            return Subquery(found, output_field=CharField())

        effective = undoing.in_effect().filter(pk=OuterRef("pk"))
        named = rows.annotate(
            winner_name=name("winner_id"), loser_name=name("loser_id"), in_effect=Exists(effective)
        )
        return deciding.visible(named, request)

    def get_urls(self) -> list[URLPattern]:
        """Add the page that takes one back."""

        def undo(request: HttpRequest, audit_id: int) -> HttpResponse:
            return self.undo(request, audit_id)

        return [
            path(
                "<int:audit_id>/undo/",
                self.admin_site.admin_view(undo),
                name="retrieval_resolutionaudit_undo",
            ),
            *super().get_urls(),
        ]

    def undo(self, request: HttpRequest, audit_id: int) -> HttpResponse:
        """Show one act with what undoing it does or why it cannot be, or undo it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        deciding.require(request)
        audit = get_object_or_404(self.get_queryset(request), pk=audit_id)
        refusal: NotUndone | Busy | None = None
        try:
            if request.method == "POST":
                undoing.undo(audit=audit, by=person(request))
                messages.success(request, _("It was undone, and is recorded as such."))
                return redirect("admin:retrieval_resolutionaudit_changelist")
            undoing.require_last(audit)
        except (NotUndone, Busy) as error:
            refusal = error
        context = {
            **self.admin_site.each_context(request),
            "title": _("Number %(number)d: %(act)s")
            % {"number": audit.pk, "act": audit.get_act_display().lower()},
            "opts": self.opts,
            "audit": audit,
            "winner": getattr(audit, "winner_name", None),
            "loser": getattr(audit, "loser_name", None),
            "is_split": audit.act == ResolutionAudit.Act.SPLIT,
            "moved": sum(len(ids) for ids in audit.inverse.get("edges", {}).values()),
            "dropped": len(audit.inverse.get("dropped", [])),
            "mentions": len(audit.inverse.get("mentions", [])),
            "refusal": refusal,
            "first": refusal.by if isinstance(refusal, NotUndone) else None,
        }
        status = 409 if refusal is not None and request.method == "POST" else 200
        return TemplateResponse(request, "admin/retrieval/undo.html", context, status=status)

    @display(description=gettext_lazy("number"), ordering="id")
    def number(self, audit: ResolutionAudit) -> SafeString:
        """Link to the page of the act."""
        address = reverse("admin:retrieval_resolutionaudit_undo", args=[audit.pk])
        return format_html('<a href="{}">{}</a>', address, audit.pk)

    @display(description=gettext_lazy("act"), ordering="act")
    def act_badge(self, audit: ResolutionAudit) -> SafeString:
        """Show what was done."""
        return badge(audit.get_act_display(), _TONES.get(ResolutionAudit.Act(audit.act), "plain"))

    @display(description=gettext_lazy("entities"))
    def entities(self, audit: ResolutionAudit) -> SafeString:
        """Name both; what is gone has no name any more."""
        gone = _("gone since")
        ends = (getattr(audit, name, None) or gone for name in ("loser_name", "winner_name"))
        return format_html('<span>{} <span class="quiet">→</span> {}</span>', *ends)

    @display(description=gettext_lazy("who"), ordering="done_by_name")
    def who(self, audit: ResolutionAudit) -> str:
        """Name the person."""
        return audit.done_by_name or _("software")

    @display(description=gettext_lazy("when"), ordering="happened_at")
    def when(self, audit: ResolutionAudit) -> str:
        """Show the moment."""
        return f"{audit.happened_at:%Y-%m-%d %H:%M}"

    @display(description=gettext_lazy("in effect"), boolean=True)
    def held(self, audit: ResolutionAudit) -> bool:
        """Say whether it was neither undone nor ended with its documents."""
        return bool(getattr(audit, "in_effect", False))
