"""Sources: the works behind the documents, and what publishers and indexes said about them."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.filters import SimpleListFilter
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corpus import bells
from corpus.actions import enrichment
from corpus.actions.editorial import record_event, withdraw_event
from corpus.admin.fields import LinesField, WebAddressField, checked_doi
from corpus.admin.history import HistoryAdmin
from corpus.admin_base import (
    ModelAdmin,
    ModelForm,
    TabularInline,
    TextInputWidget,
    badge,
    covered_documents,
    display,
)
from corpus.enrichment.records import SourceCheck
from corpus.gateways.http import ContactMissing, contact
from corpus.identifiers import normalise_doi
from corpus.models import Document, EditorialEvent, Source
from corpus.waiting import failed_checks, never_checked


def visible_sources(rows: QuerySet[Source], request: HttpRequest) -> QuerySet[Source]:
    """Keep works that are merely cited, and those of which the viewer may see a document."""
    held = Document.objects.filter(source=OuterRef("pk"))
    covered = covered_documents(request).filter(source=OuterRef("pk"))
    return rows.filter(Q(Exists(covered)) | ~Q(Exists(held)))


class EventForm(ModelForm[EditorialEvent]):
    """An event a person records."""

    class Meta:
        model = EditorialEvent
        fields = ("kind", "happened_on", "notice_doi", "note")
        widgets = {"note": TextInputWidget}

    def clean_happened_on(self) -> date:
        """Refuse a day that is still to come."""
        day: date = self.cleaned_data["happened_on"]
        if day > date.today():  # noqa: DTZ011
            raise ValidationError(_("This day is still to come."))
        return day

    def clean_notice_doi(self) -> str:
        """Refuse what is no DOI."""
        return checked_doi(self.cleaned_data["notice_doi"])


class EventInline(TabularInline[EditorialEvent, Source]):
    """The events of a work, with room to record one."""

    model = EditorialEvent
    form = EventForm
    extra = 0
    fields = ("kind", "happened_on", "origin", "notice_doi", "note", "recorded_by")
    readonly_fields = ("origin", "recorded_by")
    ordering = ("happened_on", "recorded_at", "id")
    verbose_name = gettext_lazy("editorial event")
    verbose_name_plural = gettext_lazy("Editorial events")

    def get_queryset(self, request: HttpRequest) -> QuerySet[EditorialEvent]:
        """Fetch who recorded each along with it."""
        return super().get_queryset(request).select_related("recorded_by", "source")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """An event is a record: another one follows it, nothing alters it."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What was entered by mistake is withdrawn on its own page."""
        return False


class CheckedFilter(SimpleListFilter):
    """Whether an index has been asked about the work."""

    title = gettext_lazy("check for retraction")
    parameter_name = "checked"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the choices."""
        return [("never", _("Has a DOI, never checked")), ("failed", _("Last check failed"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the works of the choice."""
        kept = {"never": never_checked, "failed": failed_checks}.get(self.value() or "")
        return queryset if kept is None else queryset.filter(pk__in=kept().values("pk"))


class SourceForm(ModelForm[Source]):
    """The record of a work."""

    authors = LinesField()
    url = WebAddressField(label=gettext_lazy("Address"))

    class Meta:
        model = Source
        fields = (
            "title", "authors", "year", "published_date", "container", "publisher", "url", "version_label",
            "identifier_type", "identifier_value",
        )  # fmt: skip
        widgets = {"title": TextInputWidget, "container": TextInputWidget, "publisher": TextInputWidget}

    def clean(self) -> dict[str, Any]:
        """Bring a DOI into its one form; ask for both halves of an identifier or none."""
        data = super().clean() or self.cleaned_data
        kind, value = data.get("identifier_type", ""), data.get("identifier_value", "").strip()
        if bool(kind) != bool(value):
            self.add_error("identifier_value", _("Give the kind of identifier and its value, or neither."))
        elif kind == Source.IdentifierType.DOI:
            doi = normalise_doi(value)
            if doi is None:
                self.add_error("identifier_value", _("This is not a DOI. A DOI looks like 10.1234/abc."))
            data["identifier_value"] = doi or value
        return data


@admin.register(Source)
class SourceAdmin(HistoryAdmin, ModelAdmin[Source]):
    """Works, their standing, and the events it derives from."""

    event_model = "corpus.SourceEvent"
    form = SourceForm
    inlines = (EventInline,)
    list_display = ("title_or_identifier", "identifier", "year", "container", "standing", "held", "checked")
    list_filter = ("is_retracted", "has_concern", "is_corrected", CheckedFilter, "identifier_type", "year")
    search_fields = ("title", "identifier_value")
    search_help_text = gettext_lazy("A DOI finds exactly that work; words search titles.")
    ordering = ("title", "id")
    readonly_fields = ("standing", "held", "checked")
    actions = ("check_now",)
    fieldsets = (
        (gettext_lazy("Standing"), {"fields": ("standing", "checked", "held")}),
        (
            gettext_lazy("The work"),
            {"fields": ("title", "authors", "year", "published_date", "container", "publisher", "url")},
        ),
        (gettext_lazy("Identity"), {"fields": ("identifier_type", "identifier_value", "version_label")}),
    )

    def visible(self, rows: QuerySet[Source], request: HttpRequest) -> QuerySet[Source]:
        """Keep the works the viewer may know of, with the number of their documents they may see."""
        mine = Count("documents", filter=Q(documents__in=covered_documents(request)), distinct=True)
        return visible_sources(rows, request).annotate(held_count=mine).prefetch_related("checks")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Source], search_term: str
    ) -> tuple[QuerySet[Source], bool]:
        """Find a DOI exactly, anything else by title or identifier."""
        if doi := normalise_doi(search_term):
            return queryset.filter(identifier_type="doi", identifier_value=doi), False
        return super().get_search_results(request, queryset, search_term)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A work is an authority record: documents and answers refer to it."""
        return False

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:  # noqa: FBT001
        """Record new events through the action that also derives the standing."""
        for event in formset.save(commit=False):
            record_event(
                source=form.instance,
                kind=event.kind,
                origin=EditorialEvent.Origin.MANUAL,
                happened_on=event.happened_on,
                by=request.user,  # type: ignore[arg-type]
                note=event.note,
                notice_doi=event.notice_doi,
            )
        formset.save_m2m()

    @display(description=gettext_lazy("work"), ordering="title")
    def title_or_identifier(self, source: Source) -> str:
        """Name the work."""
        return str(source)

    @display(description=gettext_lazy("identifier"))
    def identifier(self, source: Source) -> str:
        """Show kind and value."""
        return (
            f"{source.get_identifier_type_display()} {source.identifier_value}"
            if source.identifier_value
            else ""
        )

    @display(description=gettext_lazy("standing"))
    def standing(self, source: Source) -> SafeString:
        """Show the badges the events amount to."""
        said = [
            (source.is_retracted, _("Retracted"), "danger"),
            (source.has_concern, _("Concern"), "caution"),
            (source.is_corrected, _("Corrected"), "plain"),
        ]
        badges = format_html_join(" ", "{}", ((badge(text, tone),) for holds, text, tone in said if holds))
        return badges or format_html('<span class="quiet">{}</span>', _("Nothing recorded"))

    @display(description=gettext_lazy("documents"))
    def held(self, source: Any) -> int:
        """Show how many documents of it are held."""
        return getattr(source, "held_count", 0)

    @admin.action(description=gettext_lazy("Check now"), permissions=["change"])
    def check_now(self, request: HttpRequest, queryset: QuerySet[Source]) -> None:
        """Have the chosen works checked by the worker, whenever they were checked last."""
        try:
            contact()
        except ContactMissing as refusal:
            self.message_user(request, str(refusal), messages.ERROR)
            return
        enrichment.ask_again(sources=queryset, by=request.user)  # type: ignore[arg-type]
        transaction.on_commit(bells.call_for_checks)
        self.message_user(request, _("The worker asks about them now. Works without a DOI are left out."))

    @display(description=gettext_lazy("last checked"))
    def checked(self, source: Source) -> SafeString | str:
        """Show what came of each last check; a failure is said as such, with the last good one."""
        said = [check_in_words(check) for check in source.checks.all()]
        return format_html_join(" ", "{}", ((words,) for words in said)) or _("Never")


def check_in_words(check: SourceCheck) -> SafeString | str:
    """Say when a provider was asked, and what came of it."""
    if check.outcome == SourceCheck.Outcome.GOOD:
        return f"{check.checked_at:%Y-%m-%d}"
    last = f"{check.last_good_at:%Y-%m-%d}" if check.last_good_at else _("never")
    failed = _("Failed on %(day)s: %(reason)s") % {
        "day": f"{check.checked_at:%Y-%m-%d}",
        "reason": check.reason.replace("_", " "),
    }
    return format_html("{} {}", badge(failed, "caution"), _("last good check: %s") % last)


@admin.register(EditorialEvent)
class EditorialEventAdmin(ModelAdmin[EditorialEvent]):
    """All events; what a person entered by mistake is withdrawn here."""

    list_display = ("happened_on", "kind", "source", "origin", "notice_doi", "recorded_by")
    list_filter = ("kind", "origin")
    list_select_related = ("source", "recorded_by")
    search_fields = ("source__title", "notice_doi")
    date_hierarchy = "happened_on"
    ordering = ("-happened_on", "-id")
    actions = None

    def visible(self, rows: QuerySet[EditorialEvent], request: HttpRequest) -> QuerySet[EditorialEvent]:
        """Keep the events of works the viewer may know of."""
        return rows.filter(source__in=visible_sources(Source.objects.order_by(), request).values("pk"))

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Events are recorded on the page of the work."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """An event is a record."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Let a person withdraw what a person entered, and nothing else."""
        if obj is not None and obj.origin != EditorialEvent.Origin.MANUAL:
            return False
        return super().has_delete_permission(request, obj)

    def delete_model(self, request: HttpRequest, obj: EditorialEvent) -> None:
        """Withdraw the event; the standing follows."""
        withdraw_event(event=obj, by=request.user)  # type: ignore[arg-type]
