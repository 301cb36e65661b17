"""Question sets and questions for those who keep the library: read, with who signed what."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corpus.admin_base import ReadOnlyAdmin, badge, display
from evaluation.ground_truth.models import Question, QuestionSet
from evaluation.ground_truth.queries import known_questions, known_sets


@admin.register(QuestionSet)
class QuestionSetAdmin(ReadOnlyAdmin[QuestionSet]):
    """Sets of questions that their viewer may know of."""

    list_display = ("name", "description", "asked_count", "signed_count", "created_by", "created_at")
    list_select_related = ("created_by",)
    search_fields = ("name", "description")
    ordering = ("name", "id")
    fields = ("name", "description", "asked_count", "signed_count", "page", "created_by", "created_at")
    readonly_fields = fields

    def visible(self, rows: QuerySet[QuestionSet], request: HttpRequest) -> QuerySet[QuestionSet]:
        """Keep the sets of which the viewer may know a question, and count only those."""
        return known_sets(request.user)

    @display(description=gettext_lazy("questions"))
    def asked_count(self, row: QuestionSet) -> int:
        """Return how many questions are asked."""
        return int(getattr(row, "asked", 0))

    @display(description=gettext_lazy("signed"))
    def signed_count(self, row: QuestionSet) -> int:
        """Return how many of them an expert has signed."""
        return int(getattr(row, "signed", 0))

    @display(description=gettext_lazy("questions"))
    def page(self, row: QuestionSet) -> SafeString:
        """Link to the page where questions are written and signed."""
        return format_html('<a href="{}">{}</a>', reverse("questions", args=[row.name]), _("Open the set"))


@admin.register(Question)
class QuestionAdmin(ReadOnlyAdmin[Question]):
    """Questions with their evidence and what was done to each."""

    list_display = ("key", "question_start", "question_set", "signature", "kind", "split", "changed_at")
    list_filter = ("kind", "split", "unanswerable", "origin")
    list_select_related = ("question_set",)
    search_fields = ("key", "question")
    ordering = ("question_set__name", "key", "id")
    fields = (
        "question_set", "key", "question", "reference_answer", "evidence_shown", "kind", "split", "tags",
        "unanswerable", "origin", "author", "signature", "content_sha256", "retired_at", "page",
        "history_shown",
    )  # fmt: skip
    readonly_fields = fields

    def visible(self, rows: QuerySet[Question], request: HttpRequest) -> QuerySet[Question]:
        """Keep the questions all of whose evidence the viewer may know of."""
        return rows.filter(pk__in=known_questions(request.user).order_by().values("pk"))

    @display(description=gettext_lazy("question"), ordering="question")
    def question_start(self, row: Question) -> str:
        """Show how the question begins."""
        return row.question if len(row.question) <= 90 else f"{row.question[:89]}…"

    @display(description=gettext_lazy("signature"), ordering="signed_at")
    def signature(self, row: Question) -> SafeString:
        """Say who signed it, or that it is a draft."""
        if row.drafted:
            return badge(_("Draft"), "caution")
        return badge(_("Signed by %(name)s") % {"name": row.signed_by_name}, "good")

    @display(description=gettext_lazy("evidence"))
    def evidence_shown(self, row: Question) -> SafeString:
        """Show phrases and documents."""
        rows = row.evidence.order_by("number", "pk").select_related("document")
        parts = ((one.number, one.phrase, one.document or one.doi or one.title or "") for one in rows)
        return format_html_join("", "<p><b>{}</b> {} <i>{}</i></p>", parts)

    @display(description=gettext_lazy("what was done to it"))
    def history_shown(self, row: Question) -> SafeString:
        """Show the log, the newest first."""
        events = row.events.order_by("-at", "-id")[:50]
        parts = ((event.at, event.get_kind_display(), event.by_name, event.note) for event in events)
        return format_html_join("", "<p>{:%Y-%m-%d %H:%M} {} {} {}</p>", parts)

    @display(description=gettext_lazy("page"))
    def page(self, row: Question) -> SafeString:
        """Link to the page where it is changed and signed."""
        return format_html('<a href="{}">{}</a>', reverse("question", args=[row.pk]), _("Open the question"))
