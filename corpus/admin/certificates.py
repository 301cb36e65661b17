"""Certificates: which roles were checked, when, by whom, and what any surface let through."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corpus.admin_base import ReadOnlyAdmin, badge, display, license_badge
from corpus.certificates import Certificate

_TONES = {
    Certificate.State.PASSED: "good",
    Certificate.State.FAILED: "danger",
    Certificate.State.ENDED: "caution",
}


@admin.register(Certificate)
class CertificateAdmin(ReadOnlyAdmin[Certificate]):
    """The list of checks. A new one is asked for in the list of roles."""

    list_display = ("role", "outcome", "progress", "looked_for", "asked_by_name", "asked_at", "took")
    list_filter = ("state", "role")
    ordering = ("-asked_at", "-id")
    fieldsets = (
        (None, {"fields": ("role", "outcome", "reason", "asked_by_name", "asked_at", "took")}),
        (gettext_lazy("What the role may see"), {"fields": ("classes", "collections", "fingerprint")}),
        (gettext_lazy("What was asked"), {"fields": ("looked_for", "found")}),
    )
    readonly_fields = ("outcome", "took", "classes", "collections", "looked_for", "found")

    @display(description=gettext_lazy("outcome"), ordering="state")
    def outcome(self, row: Certificate) -> SafeString:
        """Show the state in words."""
        return badge(row.get_state_display(), _TONES.get(Certificate.State(row.state), "plain"))

    @display(description=gettext_lazy("surfaces asked"))
    def progress(self, row: Certificate) -> int:
        """Show how far it is."""
        return row.done

    @display(description=gettext_lazy("hidden documents"))
    def looked_for(self, row: Certificate) -> str:
        """Show for how many of the hidden documents something was looked for."""
        return _("%(canaries)d of %(hidden)d looked for") % {"canaries": row.canaries, "hidden": row.hidden}

    @display(description=gettext_lazy("took"))
    def took(self, row: Certificate) -> str:
        """Show how long it took."""
        return "" if row.seconds is None else _("%.1f s") % row.seconds

    @display(description=gettext_lazy("licence classes"))
    def classes(self, row: Certificate) -> SafeString:
        """Show the classes of the ceiling as it was."""
        return format_html_join(" ", "{}", ((license_badge(name),) for name in row.license_classes)) or badge(
            _("Nothing"), "danger"
        )

    @display(description=gettext_lazy("buckets"))
    def collections(self, row: Certificate) -> str:
        """Show the buckets of the ceiling as it was."""
        return _("All") if row.buckets is None else ", ".join(row.buckets) or _("None")

    @display(description=gettext_lazy("surfaces"))
    def found(self, row: Certificate) -> SafeString:
        """Show for each surface how often it was asked and what came back."""
        lines = format_html_join(
            "",
            "<li>{}: {} {}</li>",
            ((one["surface"], _("asked %d times") % one["asked"], _verdict(one)) for one in row.surfaces),
        )
        return format_html("<ul>{}</ul>", lines)

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Show the screen to who may certify."""
        return request.user.has_perm("corpus.view_certificate")


def _verdict(one: dict[str, Any]) -> SafeString:
    if one["passed"]:
        return badge(_("passed"), "good")
    return format_html("{} {}", badge(_("failed"), "danger"), ", ".join([*one["leaked"], *one["wrong"]]))
