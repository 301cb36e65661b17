"""The forms of campaigns. What was typed is kept."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from corpus.campaigns import starting
from corpus.campaigns.actions import discovering as opening
from corpus.campaigns.actions import screening as rounds
from corpus.campaigns.actions.discovering import CampaignError, Question
from corpus.campaigns.models import LONGEST_NAME, CampaignSearch
from corpus.campaigns.screening_models import Verdict

_LONGEST_LIST = 1_000_000
Provider = CampaignSearch.Provider


class SearchForm(forms.Form):
    """What an index is asked: a topic or a list of DOIs."""

    topic = forms.CharField(required=False, max_length=opening.LONGEST_TOPIC)
    dois = forms.CharField(required=False, max_length=_LONGEST_LIST)
    provider = forms.ChoiceField(choices=Provider.choices)
    most = forms.IntegerField(min_value=1, max_value=opening.MOST_RECORDS, initial=1_000)
    anew = forms.BooleanField(required=False)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fields["provider"].initial = starting.usual_provider()

    def clean(self) -> dict[str, Any]:
        """Put the question together; say of which field something is wrong."""
        said = super().clean() or {}
        topic, dois = said.get("topic", ""), said.get("dois", "")
        if self.errors:
            return said
        if bool(topic) == bool(dois.strip()):
            raise forms.ValidationError(_("Give a topic or a list of DOIs, and not both."))
        field = "topic" if topic else "dois"
        try:
            said["question"] = Question(
                provider=Provider(said["provider"]),
                topic=opening.checked_topic(topic) if topic else "",
                dois=() if topic else tuple(opening.checked_dois(dois)),
                most=said["most"],
            )
        except CampaignError as error:
            self.add_error(field, str(error))
        return said


class NewCampaignForm(SearchForm):
    """A campaign begins with its first search."""

    name = forms.CharField(max_length=LONGEST_NAME, error_messages={"required": _("Give it a name.")})

    field_order = ("name",)

    def clean_name(self) -> str:
        """Return the name in one line."""
        try:
            return opening.checked_name(self.cleaned_data["name"])
        except CampaignError as error:
            raise forms.ValidationError(str(error)) from None


class CriteriaForm(forms.Form):
    """By what the candidates are screened, and what that may use."""

    criteria = forms.CharField(error_messages={"required": _("Write down what a work has to be.")})
    max_tokens = forms.IntegerField(required=False, min_value=1, max_value=10**12)

    def clean_criteria(self) -> str:
        """Return the criteria as they are kept."""
        try:
            return rounds.checked_criteria(self.cleaned_data["criteria"])
        except CampaignError as error:
            raise forms.ValidationError(str(error)) from None


class DecisionForm(forms.Form):
    """A person's decision on one work, with what they knew of when they made it."""

    screening = forms.IntegerField(min_value=1, max_value=2**63 - 1)
    seen = forms.IntegerField(min_value=1, max_value=2**63 - 1)
    verdict = forms.ChoiceField(
        choices=[(item.value, item.label) for item in (Verdict.INCLUDE, Verdict.EXCLUDE)]
    )
    reason = forms.CharField(required=False, max_length=rounds.LONGEST_REASON)
