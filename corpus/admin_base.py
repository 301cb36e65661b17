"""What every admin screen builds on. To go back to Django's own admin, change the imports here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from django.contrib.admin import display
from django.contrib.admin.widgets import AutocompleteSelect as AutocompleteWidget
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from corpus import ceilings
from corpus.models import Document
from corpus.querysets import DocumentQuerySet
from corpus.rights import LABELS, LicenseClass

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin as _ModelAdmin
    from django.contrib.admin import StackedInline, TabularInline
    from django.contrib.admin.widgets import AdminDateWidget as DateWidget
    from django.contrib.admin.widgets import AdminTextareaWidget as TextareaWidget
    from django.contrib.admin.widgets import AdminTextInputWidget as TextInputWidget
    from django.contrib.auth.forms import AdminPasswordChangeForm, AdminUserCreationForm, UserChangeForm
    from django.forms import CheckboxSelectMultiple as CheckboxesWidget
    from django.forms import ModelForm
    from django.forms import Select as SelectWidget
else:
    from django import forms
    from unfold import admin as unfold
    from unfold.forms import AdminPasswordChangeForm, UserChangeForm
    from unfold.forms import UserCreationForm as AdminUserCreationForm
    from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget as CheckboxesWidget
    from unfold.widgets import UnfoldAdminSelectWidget as SelectWidget
    from unfold.widgets import UnfoldAdminSingleDateWidget as DateWidget
    from unfold.widgets import UnfoldAdminTextareaWidget as TextareaWidget
    from unfold.widgets import UnfoldAdminTextInputWidget as TextInputWidget

    class _Of:
        """Lets a class name its model in brackets, which only type checkers read."""

        def __class_getitem__(cls, _model: object) -> type:
            return cls

    class _ModelAdmin(_Of, unfold.ModelAdmin):
        pass

    class StackedInline(_Of, unfold.StackedInline):
        pass

    class TabularInline(_Of, unfold.TabularInline):
        pass

    class ModelForm(_Of, forms.ModelForm):
        pass


__all__ = [
    "AdminPasswordChangeForm",
    "AdminUserCreationForm",
    "AutocompleteWidget",
    "CheckboxesWidget",
    "DateWidget",
    "ModelAdmin",
    "ModelForm",
    "ReadOnlyAdmin",
    "SelectWidget",
    "StackedInline",
    "TabularInline",
    "TextInputWidget",
    "TextareaWidget",
    "UserChangeForm",
    "about_covered_documents",
    "badge",
    "covered_documents",
    "display",
    "license_badge",
]

M = TypeVar("M", bound=Model)

LICENSE_TONES = {
    LicenseClass.PUBLIC: "good",
    LicenseClass.OPEN_COMMERCIAL: "good",
    LicenseClass.OPEN_NONCOMMERCIAL: "caution",
    LicenseClass.RESTRICTED: "danger",
    LicenseClass.UNKNOWN: "danger",
}


class ModelAdmin(_ModelAdmin[M]):
    """A screen for one model, in pages of fifty, limited to what the viewer may see."""

    list_per_page = 50
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[M]:
        """Keep only the rows the viewer's ceiling covers."""
        return self.visible(super().get_queryset(request), request)

    def visible(self, rows: QuerySet[M], request: HttpRequest) -> QuerySet[M]:
        """Return the rows of `rows` this viewer may see. Models that reveal documents narrow it."""
        return rows


class ReadOnlyAdmin(ModelAdmin[M]):
    """A screen that only shows: for the log, and for what machines record."""

    actions = None

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse, to everyone."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse, to everyone."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse, to everyone."""
        return False


def covered_documents(request: HttpRequest) -> DocumentQuerySet:
    """Return the documents, in whatever state, that the viewer's ceiling covers."""
    return Document.objects.under(ceilings.of(request.user)).order_by()


def about_covered_documents(request: HttpRequest, *, lookup: str) -> Q:
    """Return the condition that the viewer may know of the document at `lookup`."""
    return ceilings.about_covered_documents(request.user, lookup=lookup)


def badge(text: Any, tone: str = "plain") -> SafeString:
    """Return `text` as a badge: the word says it, the colour only helps."""
    return format_html('<span class="badge badge-{}">{}</span>', tone, text)


def license_badge(name: str) -> SafeString:
    """Return a licence class as a badge with its words."""
    license_class = LicenseClass(name)
    return badge(LABELS[license_class], LICENSE_TONES[license_class])
