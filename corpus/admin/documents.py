"""Documents: what is held, under which rights, in which state."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corpus.actions.rights import PERMISSION
from corpus.admin import embargo, license_change, license_reading, quarantine, read_again, supersession
from corpus.admin.fields import LinesField, WebAddressField, checked_doi
from corpus.admin.filters import BucketFilter, StandingFilter
from corpus.admin.history import HistoryAdmin
from corpus.admin_base import (
    ModelAdmin,
    ModelForm,
    TextInputWidget,
    badge,
    covered_documents,
    display,
    license_badge,
)
from corpus.identifiers import fold, normalise_doi
from corpus.models import Document

_STATE_TONES = {
    Document.State.READY: "good",
    Document.State.NEEDS_OCR: "caution",
    Document.State.QUARANTINED: "danger",
    Document.State.FAILED: "danger",
}


class DocumentForm(ModelForm[Document]):
    """The fields a librarian may correct by hand."""

    authors = LinesField()
    url = WebAddressField(label=gettext_lazy("Address"))

    class Meta:
        model = Document
        fields = ("title", "authors", "year", "doi", "journal", "url", "language", "version_label", "source")
        widgets = {"title": TextInputWidget, "journal": TextInputWidget}

    def clean_doi(self) -> str:
        """Refuse what is no DOI: it would silently not match anything."""
        return checked_doi(self.cleaned_data["doi"])


@admin.register(Document)
class DocumentAdmin(HistoryAdmin, ModelAdmin[Document]):
    """The list of what is held, and one document with its rights, standing and origin."""

    event_model = "corpus.DocumentEvent"
    form = DocumentForm
    list_display = (
        "title",
        "licence",
        "standing",
        "state_badge",
        "bucket",
        "year",
        "passage_count",
        "ingested",
    )
    list_filter = (
        "license_class",
        "state",
        StandingFilter,
        ("bucket", BucketFilter),
        "year",
        "no_derivatives",
        "language",
    )
    list_select_related = ("source",)
    search_fields = ("title", "authors_folded")
    search_help_text = gettext_lazy(
        "A DOI or an id finds exactly that document; words search titles and authors."
    )
    date_hierarchy = "ingested_at"
    ordering = ("-ingested_at", "id")
    autocomplete_fields = ("source",)
    actions = ("change_license", "suggest_license")
    fieldsets = (
        (
            gettext_lazy("Rights"),
            {
                "fields": (
                    "licence_detail", "embargo_detail", "signal", "rights_statement", "read_as",
                    "no_derivatives",
                )
            },
        ),
        (gettext_lazy("Standing"), {"fields": ("standing_detail", "succession", "version_label", "source")}),
        (
            gettext_lazy("What it is"),
            {"fields": ("title", "authors", "year", "journal", "doi", "url", "language")},
        ),
        (
            gettext_lazy("How it came in"),
            {
                "fields": (
                    "state_badge", "quarantine_detail", "state_reason", "bucket", "passages", "file_name",
                    "media_type", "page_count", "parser_detail", "quality", "ingested_at", "content_sha256",
                    "file_sha256", "fixity_detail",
                )
            },
        ),
    )  # fmt: skip
    readonly_fields = (
        "licence_detail", "embargo_detail", "signal", "rights_statement", "read_as", "standing_detail",
        "succession", "state_badge", "quarantine_detail", "state_reason", "bucket", "passages", "file_name",
        "media_type",
        "page_count", "parser_detail", "quality", "ingested_at", "content_sha256", "file_sha256",
        "fixity_detail",
    )  # fmt: skip

    def visible(self, rows: QuerySet[Document], request: HttpRequest) -> QuerySet[Document]:
        """Keep the documents the viewer's ceiling covers."""
        return rows.filter(pk__in=covered_documents(request).values("pk")).defer("extra")

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:  # noqa: FBT001, FBT002
        """Say beside the title what changing it does not do."""
        kwargs["help_texts"] = {
            "title": _("Passages keep the title they were indexed under until the file is taken in again."),
        }
        return super().get_form(request, obj, change=change, **kwargs)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Documents come in through ingestion."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Removing a document takes its passages and its file along: that is not a matter of one click."""
        return False

    def has_change_license_permission(self, request: HttpRequest) -> bool:
        """Say whether the viewer may change licence classes."""
        return request.user.has_perm(PERMISSION)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Document], search_term: str
    ) -> tuple[QuerySet[Document], bool]:
        """Find a DOI or an id exactly, anything else by title and authors."""
        if doi := normalise_doi(search_term):
            return queryset.filter(doi_normalised=doi), False
        try:
            return queryset.filter(pk=UUID(search_term.strip())), False
        except ValueError:
            pass
        for word in search_term.split():
            queryset = queryset.filter(Q(title__icontains=word) | Q(authors_folded__contains=fold(word)))
        return queryset, False

    def get_urls(self) -> list[URLPattern]:
        """Add the pages for licences, embargoes, quarantine, supersession and reading again."""
        site = self.admin_site

        def licences(request: HttpRequest) -> HttpResponse:
            return license_change.change_license(request, site)

        def successor(request: HttpRequest, document_id: UUID) -> HttpResponse:
            return supersession.choose_successor(request, site, document_id)

        def again(request: HttpRequest, document_id: UUID) -> HttpResponse:
            return read_again.read_again(request, site, document_id)

        def embargoed(request: HttpRequest, document_id: UUID) -> HttpResponse:
            return embargo.edit(request, site, document_id)

        def quarantined(request: HttpRequest, document_id: UUID) -> HttpResponse:
            return quarantine.edit(request, site, document_id)

        return [
            path(
                "<uuid:document_id>/quarantine/",
                site.admin_view(quarantined),
                name="corpus_document_quarantine",
            ),
            path("<uuid:document_id>/embargo/", site.admin_view(embargoed), name="corpus_document_embargo"),
            path("<uuid:document_id>/read-again/", site.admin_view(again), name="corpus_document_read_again"),
            path("change-licence/", site.admin_view(licences), name="corpus_document_license"),
            path(
                "<uuid:document_id>/successor/", site.admin_view(successor), name="corpus_document_successor"
            ),
            *super().get_urls(),
        ]

    @admin.action(description=gettext_lazy("Change the licence class…"), permissions=["change_license"])
    def change_license(self, request: HttpRequest, queryset: QuerySet[Document]) -> HttpResponse | None:
        """Go to the page that shows the effects."""
        ids = list(queryset.order_by("pk").values_list("pk", flat=True)[: license_change.LIMIT + 1])
        if len(ids) > license_change.LIMIT:
            messages.error(request, _("Choose at most %d documents at a time.") % license_change.LIMIT)
            return redirect(request.get_full_path())
        return license_change.ask(request, self.admin_site, ids)

    @admin.action(
        description=gettext_lazy("Suggest the class their own words establish"),
        permissions=["change_license"],
    )
    def suggest_license(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Open suggestions for the chosen documents that nobody has decided on."""
        license_reading.suggest(request, queryset)

    @display(description=gettext_lazy("licence"), ordering="license_class")
    def licence(self, document: Document) -> SafeString:
        """Show the class in words."""
        shown = license_badge(document.license_class)
        if not document.no_derivatives:
            return shown
        return format_html("{} {}", shown, badge(_("Quote verbatim"), "caution"))

    @display(description=gettext_lazy("licence"))
    def licence_detail(self, document: Document) -> SafeString:
        """Show the class with the ways to change it and to see how it came about."""
        return format_html(
            '{} <a href="{}?documents={}">{}</a> · <a href="{}?document__id__exact={}">{}</a>',
            self.licence(document),
            reverse("admin:corpus_document_license"),
            document.pk,
            _("Change…"),
            reverse("admin:corpus_rightsdecision_changelist"),
            document.pk,
            _("Decisions"),
        )

    @display(description=gettext_lazy("embargo"))
    def embargo_detail(self, document: Document) -> SafeString:
        """Show the day until which it is restricted, with the way to change it."""
        day = document.embargoed_until
        return format_html(
            '{} <a href="{}">{}</a>',
            _("None") if day is None else _("Until %s") % day.isoformat(),
            reverse("admin:corpus_document_embargo", args=[document.pk]),
            _("Change…"),
        )

    @display(description=gettext_lazy("quarantine"))
    def quarantine_detail(self, document: Document) -> SafeString:
        """Say whether it is held back, with the way to see why and to change that."""
        return format_html(
            '{} <a href="{}">{}</a>',
            _("Held back") if document.state == Document.State.QUARANTINED else _("None"),
            reverse("admin:corpus_document_quarantine", args=[document.pk]),
            _("What it says to machines…"),
        )

    @display(description=gettext_lazy("licence signal"))
    def signal(self, document: Document) -> str:
        """Show what the class was derived from, verbatim."""
        return document.license_source

    @display(description=gettext_lazy("read as"))
    def read_as(self, document: Document) -> SafeString:
        """Show what the signal and the document's own words establish, and the suggestion that waits."""
        return license_reading.shown(document)

    @display(description=gettext_lazy("passages"), ordering="chunk_count")
    def passage_count(self, document: Document) -> int:
        """Show how many there are."""
        return document.chunk_count

    @display(description=gettext_lazy("standing"))
    def standing(self, document: Document) -> SafeString:
        """Show what was said about the work, in words."""
        source = document.source
        said = [
            (source is not None and source.is_retracted, _("Retracted"), "danger"),
            (source is not None and source.has_concern, _("Concern"), "caution"),
            (source is not None and source.is_corrected, _("Corrected"), "plain"),
            (document.status == Document.Status.SUPERSEDED, _("Superseded"), "caution"),
            (document.fixity != Document.Fixity.UNCHANGED, _("Changed since taken in"), "danger"),
        ]
        badges = format_html_join(" ", "{}", ((badge(text, tone),) for holds, text, tone in said if holds))
        return badges or format_html('<span class="quiet">{}</span>', _("Current"))

    @display(description=gettext_lazy("work"))
    def standing_detail(self, document: Document) -> SafeString:
        """Show the standing with the way to the events behind it."""
        if document.source_id is None:
            hint = _("Choose the work below to record a retraction, a concern or a correction.")
            return format_html("{} <p class='quiet'>{}</p>", self.standing(document), hint)
        address = reverse("admin:corpus_source_change", args=[document.source_id])
        return format_html('{} <a href="{}">{}</a>', self.standing(document), address, _("Editorial events"))

    @display(description=gettext_lazy("succession"))
    def succession(self, document: Document) -> SafeString:
        """Name the successor, with the way to change it."""
        address = reverse("admin:corpus_document_successor", args=[document.pk])
        if document.superseded_by is None:
            return format_html('<a href="{}">{}</a>', address, _("Mark as superseded…"))
        return format_html(
            '{} <a href="{}">{}</a> · <a href="{}">{}</a>',
            _("Superseded by"),
            reverse("admin:corpus_document_change", args=[document.superseded_by_id]),
            document.superseded_by.title,
            address,
            _("Undo…"),
        )

    @display(description=gettext_lazy("fixity"))
    def fixity_detail(self, document: Document) -> str:
        """Say whether what is kept is what was taken in, and when that was last looked at."""
        if document.fixity_checked_at is None:
            return _("Not checked yet")
        return f"{document.get_fixity_display()} ({document.fixity_checked_at:%Y-%m-%d %H:%M})"

    @display(description=gettext_lazy("state"), ordering="state")
    def state_badge(self, document: Document) -> SafeString:
        """Show the state in words."""
        return badge(document.get_state_display(), _STATE_TONES.get(Document.State(document.state), "plain"))

    @display(description=gettext_lazy("taken in"), ordering="ingested_at")
    def ingested(self, document: Document) -> str:
        """Show the day."""
        return f"{document.ingested_at:%Y-%m-%d}"

    @display(description=gettext_lazy("passages"))
    def passages(self, document: Document) -> SafeString:
        """Show how many there are, with the way to read them."""
        address = reverse("document", args=[document.pk])
        return format_html('{} · <a href="{}">{}</a>', document.chunk_count, address, _("Read them"))

    @display(description=gettext_lazy("read by"))
    def parser_detail(self, document: Document) -> SafeString:
        """Name the parser, with the way to ask for another."""
        address = reverse("admin:corpus_document_read_again", args=[document.pk])
        return format_html('{} · <a href="{}">{}</a>', document.parser, address, _("Read again…"))

    @display(description=gettext_lazy("parse quality"))
    def quality(self, document: Document) -> SafeString:
        """Show the parser's own account."""
        return format_html("<pre>{}</pre>", json.dumps(document.parse_quality, indent=1, ensure_ascii=False))
