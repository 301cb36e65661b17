"""Which groups of the sign-in provider stand for which roles. What follows is shown before it happens."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corpus.accounts import provider
from corpus.accounts.claims import LONGEST_GROUP
from corpus.accounts.identities import GroupMapping
from corpus.actions import group_mappings
from corpus.actions.group_mappings import Effect, MappingError
from corpus.admin_base import ReadOnlyAdmin, SelectWidget, TextInputWidget, display
from corpus.roles import STAFF_ROLES
from corpus.signed_in import person


class MappingForm(forms.Form):
    """A group there, and the role here."""

    claimed = forms.CharField(
        label=gettext_lazy("Group at the provider"),
        max_length=LONGEST_GROUP,
        strip=False,
        widget=TextInputWidget(attrs={"spellcheck": "false", "autocapitalize": "none"}),
        help_text=gettext_lazy("As the provider writes it, to the letter."),
    )
    group = forms.ModelChoiceField(
        label=gettext_lazy("Role here"), queryset=Group.objects.order_by("name"), widget=SelectWidget
    )


@admin.register(GroupMapping)
class GroupMappingAdmin(ReadOnlyAdmin[GroupMapping]):
    """The list of mappings. Each is added and removed on a page that shows what follows."""

    list_display = ("claimed", "group", "there", "since", "removal")
    list_display_links = None
    list_filter = ("group",)
    list_select_related = ("group",)
    search_fields = ("claimed",)
    ordering = ("claimed", "group__name", "id")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Let those add who may."""
        return request.user.has_perm(group_mappings.ADD)

    def get_urls(self) -> list[URLPattern]:
        """Add the page on which one is removed."""

        def remove(request: HttpRequest, mapping_id: int) -> HttpResponse:
            return self.remove_view(request, mapping_id)

        guarded = self.admin_site.admin_view(remove)
        return [
            path("<int:mapping_id>/remove/", guarded, name="corpus_groupmapping_remove"),
            *super().get_urls(),
        ]

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Ask for a mapping, show what it would do, and add it once that was seen."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = MappingForm(request.POST if request.method == "POST" else None)
        effect = None
        if form.is_valid():
            try:
                effect = group_mappings.effect_of_adding(**form.cleaned_data)
                # What was shown is what is done: a form that was changed since shows what follows anew.
                if request.POST.get("confirmed") == _shown(form):
                    group_mappings.add(**form.cleaned_data, by=person(request))
                    messages.success(request, _("It counts from now on."))
                    return redirect("admin:corpus_groupmapping_changelist")
            except MappingError as refusal:
                form.add_error("claimed", str(refusal))
                effect = None
        return self._page(request, _("Add a group of the provider"), form=form, effect=effect)

    def remove_view(self, request: HttpRequest, mapping_id: int) -> HttpResponse:
        """Show what removing a mapping does, and remove it once that was seen."""
        if not request.user.has_perm(group_mappings.REMOVE):
            raise PermissionDenied
        mapping = get_object_or_404(GroupMapping.objects.select_related("group"), pk=mapping_id)
        if request.method == "POST":
            group_mappings.remove(mapping=mapping, by=person(request))
            messages.success(request, _("It counts no more."))
            return redirect("admin:corpus_groupmapping_changelist")
        effect = group_mappings.effect_of_removing(mapping)
        return self._page(request, _("Remove “%s”") % mapping.claimed, mapping=mapping, effect=effect)

    def _page(
        self,
        request: HttpRequest,
        title: str,
        *,
        effect: Effect | None,
        form: MappingForm | None = None,
        mapping: GroupMapping | None = None,
    ) -> HttpResponse:
        group = mapping.group if mapping is not None else None
        if form is not None and effect is not None:
            group = form.cleaned_data["group"]
        context = {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.opts,
            "form": form,
            "mapping": mapping,
            "effect": effect,
            "group": group,
            "curates": group is not None and group.name in STAFF_ROLES,
            "shown": _shown(form) if form is not None and effect is not None else "",
            "provider_name": provider.name(),
        }
        status = 422 if form is not None and form.errors else 200
        return TemplateResponse(request, "admin/corpus/group_mapping.html", context, status=status)

    @display(description=gettext_lazy("in it, of those who signed in"))
    def there(self, mapping: GroupMapping) -> int:
        """Count who has the role by it."""
        return group_mappings.members(mapping)

    @display(description=gettext_lazy("since"), ordering="created_at")
    def since(self, mapping: GroupMapping) -> str:
        """Show the day."""
        return f"{mapping.created_at:%Y-%m-%d}"

    @display(description="")
    def removal(self, mapping: GroupMapping) -> SafeString:
        """Link to the page on which it is removed."""
        address = reverse("admin:corpus_groupmapping_remove", args=[mapping.pk])
        return format_html('<a href="{}">{}</a>', address, _("Remove…"))


def _shown(form: MappingForm) -> str:
    return f"{form.cleaned_data['group'].pk} {form.cleaned_data['claimed']}"
