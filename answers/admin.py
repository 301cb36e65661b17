"""Answers in the admin: that they were asked and how they went, not what they say."""

from __future__ import annotations

import json

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from answers import alerts
from answers.models import Answer
from corpus.admin_base import ReadOnlyAdmin, badge, covered_documents, display

_STATE_TONES = {Answer.State.DONE: "good", Answer.State.PARTIAL: "caution", Answer.State.FAILED: "danger"}


class WarnedFilter(admin.SimpleListFilter):
    """Answers that cite a work which was retracted or doubted after they were written."""

    title = gettext_lazy("cited works")
    parameter_name = "cites"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        """Return the one choice."""
        return [("warned", _("Retracted or doubted since"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Answer]) -> QuerySet[Answer]:
        """Keep what the viewer may know to be affected."""
        if self.value() != "warned":
            return queryset
        return alerts.affected(queryset, documents=covered_documents(request))


@admin.register(Answer)
class AnswerAdmin(ReadOnlyAdmin[Answer]):
    """Questions with their outcome, engine and duration.

    Neither the answer's text nor its sources appear here: the answer's own page shows them, and
    checks each source against whoever reads it.
    """

    list_display = ("question_start", "asked_by", "state_badge", "finish", "engine", "counts", "created_at")
    list_filter = (WarnedFilter, "state", "finish", "engine", "profile")
    list_select_related = ("asked_by",)
    search_fields = ("question", "asked_by__username")
    date_hierarchy = "created_at"
    ordering = ("-created_at", "id")
    fieldsets = (
        (None, {"fields": ("question", "asked_by", "created_at", "finished_at", "page")}),
        (gettext_lazy("Outcome"), {"fields": ("state_badge", "finish", "error", "counts", "degraded")}),
        (
            gettext_lazy("Scope"),
            {"fields": ("requested", "effective", "scope_digest", "eligible_documents", "eligible_passages")},
        ),
        (
            gettext_lazy("How it was made"),
            {
                "fields": (
                    "profile", "engine", "model", "prompt_sha256", "embedding_version", "fingerprint",
                    "prompt_tokens", "completion_tokens", "cost_usd", "timings",
                )
            },
        ),
    )  # fmt: skip
    readonly_fields = tuple(name for _title, options in fieldsets for name in options["fields"])  # type: ignore[misc]

    def visible(self, rows: QuerySet[Answer], request: HttpRequest) -> QuerySet[Answer]:
        """Count the sources, and leave the text in the database."""
        return rows.defer("text", "traces").annotate(
            source_count=Count("sources"), cited_count=Count("sources", filter=Q(sources__is_cited=True))
        )

    @display(description=gettext_lazy("question"), ordering="question")
    def question_start(self, answer: Answer) -> str:
        """Show how the question begins."""
        return answer.question if len(answer.question) <= 90 else f"{answer.question[:89]}…"

    @display(description=gettext_lazy("state"), ordering="state")
    def state_badge(self, answer: Answer) -> SafeString:
        """Show the state in words."""
        return badge(answer.get_state_display(), _STATE_TONES.get(Answer.State(answer.state), "plain"))

    @display(description=gettext_lazy("sources"))
    def counts(self, answer: Answer) -> str:
        """Show how many sources there were and how many were cited."""
        found, cited = getattr(answer, "source_count", 0), getattr(answer, "cited_count", 0)
        return _("%(cited)d of %(found)d cited") % {"cited": cited, "found": found}

    @display(description=gettext_lazy("answer"))
    def page(self, answer: Answer) -> SafeString:
        """Link to the page that shows the answer to those who may read it."""
        return format_html('<a href="{}">{}</a>', reverse("answer", args=[answer.pk]), _("Open the answer"))

    @display(description=gettext_lazy("asked for"))
    def requested(self, answer: Answer) -> SafeString:
        """Show the scope the asker chose."""
        return _as_json(answer.requested_scope)

    @display(description=gettext_lazy("in effect"))
    def effective(self, answer: Answer) -> SafeString:
        """Show the scope within the asker's ceiling."""
        return _as_json(answer.effective_scope)


def _as_json(value: object) -> SafeString:
    return format_html("<pre>{}</pre>", json.dumps(value, indent=1, ensure_ascii=False))


# Django finds screens here.
from answers import admin_feedback  # noqa: E402, F401
