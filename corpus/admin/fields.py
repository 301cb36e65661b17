"""Form fields the screens share."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corpus.admin_base import CheckboxesWidget, TextareaWidget, TextInputWidget
from corpus.identifiers import normalise_doi
from corpus.models import LICENSE_CHOICES


class LinesField(forms.CharField):
    """A list of names, one a line."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("help_text", gettext_lazy("One a line."))
        kwargs.setdefault("widget", TextareaWidget(attrs={"rows": 3}))
        super().__init__(required=kwargs.pop("required", False), **kwargs)

    def prepare_value(self, value: Any) -> Any:
        """Show a stored list as lines."""
        return "\n".join(str(item) for item in value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        """Read lines into a list, without blank ones."""
        lines = value if isinstance(value, list) else (super().to_python(value) or "").splitlines()
        return [str(line).strip() for line in lines if str(line).strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Compare lists, not the text they were typed as."""
        return bool(self.to_python(initial or []) != self.to_python(data or ""))


class WebAddressField(forms.URLField):
    """An address of the web; one typed without a scheme is taken for https."""

    widget = TextInputWidget
    default_validators = [URLValidator(schemes=["http", "https"])]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, max_length=2000, assume_scheme="https", **kwargs)


class LicenseClassesField(forms.MultipleChoiceField):
    """Any of the five classes; none of them means nothing may be seen."""

    widget = CheckboxesWidget

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(choices=LICENSE_CHOICES, required=False, **kwargs)


def checked_doi(text: str) -> str:
    """Return `text` if it is empty or holds a DOI; raise `ValidationError` otherwise."""
    if text.strip() and normalise_doi(text) is None:
        raise ValidationError(_("This is not a DOI. A DOI looks like 10.1234/abc."))
    return text.strip()
