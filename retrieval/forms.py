"""The form of the list of entities."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from retrieval.graph.listing import ORDERS, Wanted

_ORDER_WORDS = {"mentions": _("Most mentioned first"), "name": _("By name")}


class EntityFilterForm(forms.Form):
    """What to look for. Every field is optional; an empty one filters nothing."""

    q = forms.CharField(required=False, max_length=300, label=_("Name"))
    type = forms.CharField(required=False, max_length=60, label=_("Type"))
    document = forms.UUIDField(required=False, label=_("Document"), widget=forms.HiddenInput)
    order = forms.ChoiceField(
        required=False, choices=[(name, _ORDER_WORDS[name]) for name in ORDERS], label=_("Order")
    )

    def wanted(self) -> Wanted:
        """Return what a valid form asks for."""
        values = self.cleaned_data
        return Wanted(
            name=values["q"] or None,
            type=values["type"] or None,
            document=values["document"],
            order=values["order"] or "mentions",
        )
