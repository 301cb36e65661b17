"""Keys of programs: who has which, what each allows, when it was used. A secret shows when it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from corpus.admin.fields import LicenseClassesField, LinesField
from corpus.admin.history import HistoryAdmin
from corpus.admin_base import (
    CheckboxesWidget,
    DateWidget,
    ModelAdmin,
    ModelForm,
    badge,
    display,
    license_badge,
)
from corpus.keys import actions
from corpus.keys.actions import KeyActionRefused, Wanted
from corpus.keys.models import PERMISSION_CHOICES, ApiKey
from corpus.keys.permissions import LABELS, parse_permission
from corpus.rights import ALL_CLASSES, parse_class
from corpus.scope import Ceiling
from corpus.signed_in import person

if TYPE_CHECKING:
    from corpus.keys.actions import Made


class KeyForm(ModelForm[ApiKey]):
    """What a key is for, and all that it allows."""

    by: User

    permissions = forms.MultipleChoiceField(
        label=gettext_lazy("May"),
        choices=PERMISSION_CHOICES,
        widget=CheckboxesWidget,
        required=False,
        help_text=gettext_lazy("None ticked: the key may do nothing."),
    )
    license_classes = LicenseClassesField(
        label=gettext_lazy("Licence classes"),
        help_text=gettext_lazy("The most it may see. None ticked: nothing."),
        initial=[str(item) for item in ALL_CLASSES],
    )
    buckets = LinesField(
        label=gettext_lazy("Buckets"),
        help_text=gettext_lazy("One a line. Read only when not all are allowed."),
    )
    valid_through = forms.DateField(
        label=gettext_lazy("Valid through"),
        required=False,
        widget=DateWidget,
        help_text=gettext_lazy("The last day it counts. Left empty: until it is revoked."),
    )

    class Meta:
        model = ApiKey
        fields = ("name", "owner", "permissions", "license_classes", "all_buckets", "buckets",
                  "requests_per_minute")  # fmt: skip
        labels = {"owner": gettext_lazy("Acts for"), "all_buckets": gettext_lazy("All buckets")}
        help_texts = {
            "owner": gettext_lazy("What it may do and see is never more than this account may."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "owner" in self.fields:
            self.fields["owner"].queryset = User.objects.filter(is_active=True).order_by("username")  # type: ignore[attr-defined]
            self.fields["all_buckets"].initial = True

    def clean(self) -> dict[str, Any]:
        """Refuse what the action would refuse, while it can still be put right."""
        values = super().clean() or self.cleaned_data
        if not self.errors:
            try:
                actions.check(owner=values["owner"], wanted=self.wanted(), by=self.by)
            except KeyActionRefused as refusal:
                self.add_error(None, str(refusal))
        if values.get("all_buckets"):
            values["buckets"] = []
        return values

    def wanted(self) -> Wanted:
        """Return what was filled in. Only of a form without errors."""
        values = self.cleaned_data
        classes = tuple(parse_class(name) for name in values["license_classes"])
        return Wanted(
            name=values["name"],
            permissions=[parse_permission(name) for name in values["permissions"]],
            ceiling=Ceiling(classes, None if values["all_buckets"] else tuple(values["buckets"])),
            requests_per_minute=values["requests_per_minute"],
            expires_at=actions.end_of(values["valid_through"]),
        )


@admin.register(ApiKey)
class ApiKeyAdmin(HistoryAdmin, ModelAdmin[ApiKey]):
    """Keys. One that was made is never changed, only revoked."""

    event_model = "corpus.ApiKeyEvent"
    form = KeyForm
    list_display = ("name", "prefix", "owner", "may", "sees", "limit", "standing", "last_used_at")
    list_filter = ("owner",)
    list_select_related = ("owner",)
    search_fields = ("name", "prefix", "owner__username")
    date_hierarchy = "created_at"
    ordering = ("-created_at", "id")
    actions = ("revoke",)
    readonly_fields = (
        "name", "prefix", "owner", "may", "sees", "in_buckets", "limit", "standing", "created_at",
        "created_by", "last_used_at",
    )  # fmt: skip

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        """Ask for all of it once; show it afterwards."""
        asked = (*KeyForm.Meta.fields, "valid_through")
        return asked if obj is None else self.readonly_fields

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        """Let nothing be changed."""
        return () if obj is None else self.readonly_fields

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:  # noqa: FBT001, FBT002
        """Let the form know who fills it in."""
        form = super().get_form(request, obj, change, **kwargs)
        form.by = request.user  # type: ignore[attr-defined]
        return form

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """Refuse, to everyone: what a key allows is what it was made for."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """Refuse, to everyone: who could do what stays on record."""
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Say whether the viewer may revoke keys."""
        return request.user.has_perm(actions.REVOKE)

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:  # noqa: FBT001
        """Have the action make it; its secret is kept for the page that follows and nowhere else."""
        made = actions.create(owner=form.cleaned_data["owner"], wanted=form.wanted(), by=person(request))
        obj.pk, obj.prefix = made.key.pk, made.key.prefix
        obj._state.adding = False
        request.made_key = made  # type: ignore[attr-defined]

    def response_add(self, request: HttpRequest, obj: ApiKey, post_url_continue: Any = None) -> HttpResponse:
        """Show the secret, on this page and never again."""
        made: Made = request.made_key  # type: ignore[attr-defined]
        context = {
            **self.admin_site.each_context(request),
            "title": _("The key “%s”") % made.key.name,
            "opts": self.opts,
            "key": made.key,
            "secret": made.secret.reveal(),
        }
        return TemplateResponse(request, "admin/corpus/key_secret.html", context)

    @admin.action(description=gettext_lazy("Revoke"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, rows: QuerySet[ApiKey]) -> None:
        """End them for good, from the next request on."""
        ended = sum(actions.revoke(key=row, by=person(request)) for row in rows)
        words = ngettext("%(n)d key is revoked.", "%(n)d keys are revoked.", ended)
        messages.success(request, words % {"n": ended})

    @display(description=gettext_lazy("may"))
    def may(self, key: ApiKey) -> SafeString:
        """Name the permissions."""
        told = format_html_join(
            "", "<div>{}</div>", ((LABELS[parse_permission(name)],) for name in key.permissions)
        )
        return told or badge(_("Nothing"), "danger")

    @display(description=gettext_lazy("sees at most"))
    def sees(self, key: ApiKey) -> SafeString:
        """Name the classes of its ceiling."""
        if len(key.license_classes) == len(ALL_CLASSES):
            return badge(_("What its owner sees"))
        told = format_html_join(" ", "{}", ((license_badge(name),) for name in key.license_classes))
        return told or badge(_("Nothing"), "danger")

    @display(description=gettext_lazy("buckets"))
    def in_buckets(self, key: ApiKey) -> str:
        """Name the buckets of its ceiling."""
        return _("All") if key.all_buckets else ", ".join(key.buckets) or _("None")

    @display(description=gettext_lazy("a minute"), ordering="requests_per_minute")
    def limit(self, key: ApiKey) -> str:
        """Say how often it may be used."""
        return f"{key.requests_per_minute:,}"

    @display(description=gettext_lazy("state"))
    def standing(self, key: ApiKey) -> SafeString:
        """Say whether it counts, and until when."""
        if key.revoked_at is not None:
            return badge(_("Revoked on %s") % f"{key.revoked_at:%Y-%m-%d}", "danger")
        if key.expires_at is None:
            return badge(_("Active"), "good")
        day = f"{key.expires_at:%Y-%m-%d}"
        if key.expires_at <= timezone.now():
            return badge(_("Expired on %s") % day, "caution")
        return badge(_("Active until %s") % day, "good")
