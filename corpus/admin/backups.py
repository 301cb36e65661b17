"""Backups, restores and drills: when, by whom, how large, and how they ended."""

from __future__ import annotations

from datetime import timedelta

from django.contrib import admin
from django.template.defaultfilters import filesizeformat
from django.utils.safestring import SafeString
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corpus.admin_base import ReadOnlyAdmin, badge, display
from corpus.backups import BackupRun


@admin.register(BackupRun)
class BackupRunAdmin(ReadOnlyAdmin[BackupRun]):
    """The list of what was kept and what was tried. Both are done at the command line."""

    list_display = ("kind", "outcome", "age", "bytes", "documents", "questions", "by_name", "took")
    list_filter = ("kind", "state")
    ordering = ("-started_at", "-id")
    fieldsets = (
        (None, {"fields": ("kind", "outcome", "reason", "by_name", "started_at", "took")}),
        (gettext_lazy("The file"), {"fields": ("path", "bytes", "is_sealed")}),
        (
            gettext_lazy("What is in it"),
            {"fields": ("documents", "passages", "originals", "questions", "fingerprint")},
        ),
    )
    readonly_fields = ("outcome", "bytes", "took")

    @display(description=gettext_lazy("outcome"), ordering="state")
    def outcome(self, row: BackupRun) -> SafeString:
        """Show the state in words."""
        if row.was_killed:
            return badge(_("Broken off"), "danger")
        tones = {BackupRun.State.DONE: "good", BackupRun.State.FAILED: "danger"}
        return badge(row.get_state_display(), tones.get(BackupRun.State(row.state), "plain"))

    @display(description=gettext_lazy("age"), ordering="started_at")
    def age(self, row: BackupRun) -> str:
        """Show how long ago it began."""
        return timesince(row.started_at, depth=1)

    @display(description=gettext_lazy("size"), ordering="size")
    def bytes(self, row: BackupRun) -> str:
        """Show how large the file is."""
        return filesizeformat(row.size) if row.size else ""

    @display(description=gettext_lazy("took"))
    def took(self, row: BackupRun) -> str:
        """Show how long it took."""
        return "" if row.seconds is None else str(timedelta(seconds=round(row.seconds)))
