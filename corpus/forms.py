"""The filter of the documents list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.utils.translation import gettext_lazy as _

from corpus.models import LICENSE_CHOICES

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

STANDING_CHOICES = [
    ("", _("Any status")),
    ("current", _("Current")),
    ("superseded", _("Superseded")),
    ("retracted", _("Retracted")),
]


class YearField(forms.IntegerField):
    """A year of publication that may be left out."""

    def __init__(self, *, label: _StrPromise) -> None:
        super().__init__(required=False, label=label, min_value=1000, max_value=2999)


class DocumentFilterForm(forms.Form):
    """What to look for. Every field is optional; an empty one filters nothing."""

    q = forms.CharField(required=False, max_length=300, label=_("Title, author or DOI"))
    license_class = forms.ChoiceField(
        required=False, choices=[("", _("Any rights")), *LICENSE_CHOICES], label=_("Rights")
    )
    bucket = forms.CharField(required=False, max_length=100, label=_("Collection"))
    year_min = YearField(label=_("From year"))
    year_max = YearField(label=_("To year"))
    standing = forms.ChoiceField(required=False, choices=STANDING_CHOICES, label=_("Status"))
