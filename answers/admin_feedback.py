"""What readers say about answers, for those who decide about it."""

from __future__ import annotations

import json
from typing import TypeVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from answers.actions import feedback as deciding
from answers.feedback import AcquisitionRequest, WrongReport
from answers.waiting import known_reports
from corpus.admin_base import ReadOnlyAdmin, badge, display
from corpus.signed_in import person

R = TypeVar("R", WrongReport, AcquisitionRequest)
_TONES = {"open": "caution", "drawn": "good", "done": "good", "dismissed": "plain", "declined": "plain"}


class _Decided(ReadOnlyAdmin[R]):
    """A list whose rows are only ever decided about, by an action."""

    def has_decide_permission(self, request: HttpRequest) -> bool:
        """Say whether the viewer may decide, by the permission to change the rows."""
        return request.user.has_perm(f"answers.change_{self.opts.model_name}")

    @display(description=gettext_lazy("state"), ordering="state")
    def state_badge(self, row: WrongReport | AcquisitionRequest) -> SafeString:
        """Show the state in words."""
        return badge(row.get_state_display(), _TONES[row.state])

    @display(description=gettext_lazy("question"), ordering="question")
    def question_start(self, row: WrongReport | AcquisitionRequest) -> str:
        """Show how the question begins."""
        return row.question if len(row.question) <= 90 else f"{row.question[:89]}…"

    @display(description=gettext_lazy("answer"))
    def page(self, row: WrongReport | AcquisitionRequest) -> SafeString | str:
        """Link to the page that shows the answer to those who may read it."""
        if row.answer_id is None:
            return _("Deleted by its asker")
        return format_html(
            '<a href="{}">{}</a>', reverse("answer", args=[row.answer_id]), _("Open the answer")
        )

    def tell(self, request: HttpRequest, count: int) -> None:
        """Say how many rows were decided about."""
        told = ngettext("%(n)s decided.", "%(n)s decided.", count) % {"n": count}
        self.message_user(request, told, messages.SUCCESS if count else messages.WARNING)


@admin.register(WrongReport)
class WrongReportAdmin(_Decided[WrongReport]):
    """Answers that somebody said are wrong: drafts of evaluation questions, with their evidence."""

    actions = ("dismiss",)  # type: ignore[assignment]
    list_display = ("question_start", "comment_start", "reported_by", "state_badge", "reported_at")
    list_filter = ("state", "engine")
    list_select_related = ("reported_by",)
    search_fields = ("question", "comment", "reported_by__username")
    date_hierarchy = "reported_at"
    ordering = ("-reported_at", "id")
    fields = (
        "question", "searched_question", "comment", "drawing", "evidence_shown", "page", "answer_ref",
        "answer_sha256",
        "scope", "engine", "model", "fingerprint", "reported_by", "reported_at", "state_badge", "decided_by",
        "decided_at",
    )  # fmt: skip
    readonly_fields = fields

    def visible(self, rows: QuerySet[WrongReport], request: HttpRequest) -> QuerySet[WrongReport]:
        """Keep the reports whose evidence the viewer may know of."""
        return rows.filter(pk__in=known_reports(request.user).order_by().values("pk"))

    @display(description=gettext_lazy("what is wrong"))
    def comment_start(self, report: WrongReport) -> str:
        """Show how the comment begins."""
        return report.comment if len(report.comment) <= 90 else f"{report.comment[:89]}…"

    @display(description=gettext_lazy("evaluation"))
    def drawing(self, report: WrongReport) -> SafeString | str:
        """Link to the page on which an open report becomes a question."""
        if report.state != WrongReport.State.OPEN:
            return report.get_state_display()
        address = reverse("reported_question", args=[report.pk])
        return format_html('<a href="{}">{}</a>', address, _("Make it a question"))

    @display(description=gettext_lazy("evidence"))
    def evidence_shown(self, report: WrongReport) -> SafeString:
        """Show the cited passages as they were frozen."""
        rows = report.evidence.order_by("number")
        parts = (
            (row.number, row.locator, row.content_sha256, row.quote or _("The document was deleted."))
            for row in rows
        )
        return format_html_join("", "<p><b>[{}]</b> {} <code>{}</code></p><pre>{}</pre>", parts)

    @display(description=gettext_lazy("scope"))
    def scope(self, report: WrongReport) -> SafeString:
        """Show the scope in effect."""
        return format_html("<pre>{}</pre>", json.dumps(report.effective_scope, indent=1, ensure_ascii=False))

    @admin.action(description=gettext_lazy("Dismiss"), permissions=["decide"])
    def dismiss(self, request: HttpRequest, rows: QuerySet[WrongReport]) -> None:
        """Close reports that make no question."""
        dismissed = WrongReport.State.DISMISSED
        self.tell(request, deciding.decide_reports(reports=list(rows), state=dismissed, by=person(request)))


@admin.register(AcquisitionRequest)
class AcquisitionRequestAdmin(_Decided[AcquisitionRequest]):
    """Questions the corpus does not cover, from those who would like it to."""

    actions = ("mark_acquired", "decline")  # type: ignore[assignment]
    list_display = ("question_start", "note", "asked_by", "state_badge", "asked_at")
    list_filter = ("state",)
    list_select_related = ("asked_by",)
    search_fields = ("question", "note", "asked_by__username")
    date_hierarchy = "asked_at"
    ordering = ("-asked_at", "id")
    fields = (
        "question", "note", "scope", "page", "asked_by", "asked_at", "state_badge", "decided_by",
        "decided_at",
    )  # fmt: skip
    readonly_fields = fields

    @display(description=gettext_lazy("scope asked for"))
    def scope(self, row: AcquisitionRequest) -> SafeString:
        """Show the scope the asker chose."""
        return format_html("<pre>{}</pre>", json.dumps(row.requested_scope, indent=1, ensure_ascii=False))

    @admin.action(description=gettext_lazy("Documents were acquired"), permissions=["decide"])
    def mark_acquired(self, request: HttpRequest, rows: QuerySet[AcquisitionRequest]) -> None:
        """Close requests that were met."""
        self._decide(request, rows, AcquisitionRequest.State.DONE)

    @admin.action(description=gettext_lazy("Decline"), permissions=["decide"])
    def decline(self, request: HttpRequest, rows: QuerySet[AcquisitionRequest]) -> None:
        """Close requests that will not be met."""
        self._decide(request, rows, AcquisitionRequest.State.DECLINED)

    def _decide(
        self,
        request: HttpRequest,
        rows: QuerySet[AcquisitionRequest],
        state: AcquisitionRequest.State,
    ) -> None:
        count = deciding.decide_acquisitions(requests=list(rows), state=state, by=person(request))
        self.tell(request, count)
