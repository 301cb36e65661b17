"""What of the ledger is shown."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from corpus.usage.queries import DAYS, MOST_DAYS

_BY = [
    ("day", _("Day")),
    ("model", _("Model")),
    ("purpose", _("Purpose")),
    ("user", _("User")),
    ("collection", _("Collection")),
]


class UsageForm(forms.Form):
    """Which days, and by what they are put together. Empty fields mean what the page opens with."""

    by = forms.ChoiceField(required=False, choices=_BY, label=_("By"), initial="purpose")
    days = forms.IntegerField(
        required=False, min_value=1, max_value=MOST_DAYS, label=_("Last days"), initial=DAYS
    )

    def wanted(self) -> tuple[str, int]:
        """Return grouping and days; what is not valid is as if it were not there."""
        self.is_valid()
        return self.cleaned_data.get("by") or "purpose", self.cleaned_data.get("days") or DAYS
