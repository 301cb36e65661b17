"""Entities as librarians look them up, and the page that splits one that passages mean two things by."""

from __future__ import annotations

from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from corpus.admin_base import ReadOnlyAdmin, display
from corpus.signed_in import person
from retrieval.graph import deciding, senses
from retrieval.graph.actions import splitting
from retrieval.graph.actions.splitting import NotSplit
from retrieval.graph.holding import Busy
from retrieval.graph.models import Entity

PER_PAGE = 50


@admin.register(Entity)
class EntityAdmin(ReadOnlyAdmin[Entity]):
    """What the graph names, with how often and what it is part of."""

    list_display = ("split_link", "type", "sense", "mentioned", "part_of")
    list_display_links = None
    list_filter = ("type",)
    list_select_related = ("canonical_entity",)
    search_fields = ("name", "key")
    ordering = ("key", "type", "sense", "id")

    def visible(self, rows: QuerySet[Entity], request: HttpRequest) -> QuerySet[Entity]:
        """Show them to who may see every document: names and counts come from all of them."""
        return deciding.visible(rows.annotate(mention_count=Count("mentions")), request)

    def get_urls(self) -> list[URLPattern]:
        """Add the page that splits one."""

        def split(request: HttpRequest, entity_id: UUID) -> HttpResponse:
            return self.split(request, entity_id)

        return [
            path("<uuid:entity_id>/split/", self.admin_site.admin_view(split), name="retrieval_entity_split"),
            *super().get_urls(),
        ]

    def split(self, request: HttpRequest, entity_id: UUID) -> HttpResponse:
        """Show the passages that name an entity, to be ticked, or split those off that are ticked."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        deciding.require(request)
        entity = get_object_or_404(self.get_queryset(request), pk=entity_id)
        refusal = ""
        chosen = senses.Chosen.of(request.POST)
        if request.method == "POST":
            try:
                found = senses.mentions(entity, chosen)
                audit = splitting.split(entity=entity, mentions=found, by=person(request))
            except (NotSplit, Busy) as error:
                refusal = str(error)
            else:
                passages = len({mention.chunk_id for mention in found})
                text = ngettext(
                    "%d passage has an entity of its own now. Undo it here if that was wrong.",
                    "%d passages have an entity of their own now. Undo it here if that was wrong.",
                    passages,
                )
                messages.success(request, text % passages)
                return redirect("admin:retrieval_resolutionaudit_undo", audit.pk)
        page = request.POST.get("page") or request.GET.get("page", "1")
        listed = Paginator(senses.first_mentions(entity), PER_PAGE).get_page(page)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Split %(name)s") % {"name": entity.name},
            "opts": self.opts,
            "entity": entity,
            "refusal": refusal,
            "chosen": chosen,
            "listed": listed,
            "passages": [senses.passage(mention) for mention in listed],
            "spellings": senses.spellings(entity),
            "documents": senses.documents(entity),
        }
        status = 422 if refusal else 200
        return TemplateResponse(request, "admin/retrieval/split.html", context, status=status)

    @display(description=gettext_lazy("entity"), ordering="key")
    def split_link(self, entity: Entity) -> SafeString:
        """Link to the page that splits it."""
        address = reverse("admin:retrieval_entity_split", args=[entity.pk])
        return format_html('<a href="{}">{}</a>', address, entity.name)

    @display(description=gettext_lazy("mentions"), ordering="mention_count")
    def mentioned(self, entity: Entity) -> int:
        """Count its own mentions."""
        return getattr(entity, "mention_count", 0)

    @display(description=gettext_lazy("part of"))
    def part_of(self, entity: Entity) -> str:
        """Name what it was merged into."""
        return entity.canonical_entity.name if entity.canonical_entity else ""
