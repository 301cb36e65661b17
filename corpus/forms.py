"""The forms of the document pages: the filter of the list, uploads, manifests."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext_lazy as _

from corpus.days import InvalidDay, last_day_of
from corpus.manifest import Described
from corpus.manifest_fields import FIELDS, FieldError
from corpus.models import LICENSE_CHOICES
from corpus.rights import LicenseClass, parse_class, raises

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

# What a form may carry; longer manifests are for the command line.
MOST_MANIFEST_CHARACTERS = 500_000

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


class DayField(forms.CharField):
    """A day that may be left out, written as a year, a month or a day; a year stands for its last day."""

    def __init__(self, *, label: _StrPromise) -> None:
        super().__init__(required=False, label=label, max_length=40)

    def clean(self, value: Any) -> date | None:
        """Return the day; None when nothing was written."""
        text = super().clean(value)
        try:
            return last_day_of(text) if text else None
        except InvalidDay:
            raise forms.ValidationError(
                _("“%(text)s” is not a day. Write 2019, 2019-05 or 2019-05-31."), params={"text": text}
            ) from None


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


class UploadForm(forms.Form):
    """What is said about the files of one upload. Nothing has to be said."""

    title = forms.CharField(required=False, label=_("Title"))
    bucket = forms.CharField(required=False, label=_("Collection"))
    license_class = forms.ChoiceField(
        required=False, choices=[("", _("Not declared: unknown")), *LICENSE_CHOICES], label=_("Rights")
    )
    license_source = forms.CharField(
        required=False, label=_("Evidence"), widget=forms.Textarea(attrs={"rows": 2})
    )

    def __init__(self, *args: Any, may_declare: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._may_declare = may_declare

    def clean(self) -> dict[str, Any]:
        """Hold every field against the rules of a manifest; a class above unknown needs its evidence."""
        values = super().clean() or {}
        for name in ("title", "bucket", "license_source"):
            if value := values.get(name):
                try:
                    values[name] = FIELDS[name](value)
                except FieldError as error:
                    self.add_error(name, str(error).capitalize())
        declared = values.get("license_class")
        if declared and not self._may_declare:
            self.add_error("license_class", _("Your account may not declare licences."))
        elif (
            declared
            and raises(LicenseClass.UNKNOWN, parse_class(declared))
            and not values.get("license_source")
        ):
            self.add_error(
                "license_source", _("Give the evidence: an address or a quotation of the licence.")
            )
        return values

    def described(self, *, with_title: bool) -> Described:
        """Return what a valid form says. A title is about one file only."""
        values = self.cleaned_data
        declared = values["license_class"]
        return Described(
            title=values["title"] if with_title else "",
            bucket=values["bucket"],
            license_class=parse_class(declared) if declared else None,
            license_source=values["license_source"],
        )


class ManifestForm(forms.Form):
    """A manifest as text. A file of it, when one is sent, takes the place of the text."""

    manifest = forms.CharField(
        required=False,
        strip=False,
        max_length=MOST_MANIFEST_CHARACTERS,
        label=_("Manifest"),
        widget=forms.Textarea(attrs={"rows": 12}),
    )


class LibraryForm(forms.Form):
    """What is said about an imported library as a whole. Nothing has to be said."""

    bucket = forms.CharField(required=False, label=_("Collection"))
    encoding = forms.CharField(required=False, max_length=40, label=_("Encoding of the text"))

    def clean_bucket(self) -> str:
        """Hold the collection against the rule of manifests."""
        value: str = self.cleaned_data["bucket"]
        try:
            return str(FIELDS["bucket"](value)) if value else ""
        except FieldError as error:
            raise forms.ValidationError(str(error).capitalize()) from None

    def clean_encoding(self) -> str:
        """Refuse what is not the name of a text encoding."""
        value: str = self.cleaned_data["encoding"].strip()
        try:
            "".encode(value or "utf-8")
        except (LookupError, ValueError):
            raise forms.ValidationError(_("No text encoding has this name.")) from None
        return value
