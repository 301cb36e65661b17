"""The question and its scope, as a browser sends them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from answers.conversations import LONGEST_TITLE
from answers.feedback import LONGEST_COMMENT
from corpus.forms import DayField, YearField
from corpus.models import LICENSE_CHOICES
from corpus.normalise import visible
from corpus.scope import RetrievalScope, scope
from retrieval.profiles import INTERACTIVE, NAMES
from retrieval.request import MAX_QUESTION

ALL, CHOSEN = "all", "chosen"


class AnyNames(forms.MultipleChoiceField):
    """Names nobody checks: saying which exist would tell of collections one may not see."""

    def valid_value(self, value: str) -> bool:
        return len(value) <= 100 and "\0" not in value


class ScopeForm(forms.Form):
    """What an answer may draw on.

    A box left unticked and a control that was never sent look alike in a form, but "no restriction"
    and "nothing" must not: so `rights` and `collections` say whether the boxes count at all.
    """

    rights = forms.ChoiceField(required=False, choices=[(ALL, ALL), (CHOSEN, CHOSEN)])
    license_class = forms.MultipleChoiceField(required=False, choices=LICENSE_CHOICES)
    collections = forms.ChoiceField(required=False, choices=[(ALL, ALL), (CHOSEN, CHOSEN)])
    bucket = AnyNames(required=False)
    year_min = YearField(label=_("From year"))
    year_max = YearField(label=_("To year"))
    as_of = DayField(label=_("As of"))
    include_retracted = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        first, last = cleaned.get("year_min"), cleaned.get("year_max")
        if first is not None and last is not None and first > last:
            self.add_error("year_max", _("The last year is before the first."))
        return cleaned

    def requested(self) -> RetrievalScope:
        """Return the scope that was asked for, before anybody's ceiling. Only of a valid form."""
        wanted = self.cleaned_data
        chosen = wanted["license_class"] if wanted["rights"] == CHOSEN else None
        buckets = wanted["bucket"] if wanted["collections"] == CHOSEN else None
        return scope(
            license_classes=chosen,
            buckets=buckets,
            year_min=wanted["year_min"],
            year_max=wanted["year_max"],
            exclude_retracted=not wanted["include_retracted"],
            as_of=wanted["as_of"],
        )

    def query(self, *, without: tuple[str, ...] = ()) -> str:
        """Return the query string that says the same; what stands at its default is left out."""
        return urlencode(pairs(self.requested(), without=without))


class AskForm(ScopeForm):
    """A question with its scope."""

    question = forms.CharField(
        max_length=MAX_QUESTION,
        label=_("Question"),
        error_messages={"required": _("Write a question first.")},
    )

    profile = forms.ChoiceField(required=False, choices=[(name, name) for name in NAMES])
    # What a follow-up is to be searched as, when its asker has put it into words themselves.
    searched = forms.CharField(required=False, max_length=MAX_QUESTION, label=_("Searched as"))

    def clean_profile(self) -> str:
        """Return the profile asked for; one that was never sent is the quick one."""
        return self.cleaned_data["profile"] or INTERACTIVE

    def clean_question(self) -> str:
        question: str = self.cleaned_data["question"]
        if not any(char.isalnum() for char in question):
            raise forms.ValidationError(_("Write a question first."))
        return question


def pairs(requested: RetrievalScope, *, without: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Return a scope as the names and values this form reads."""
    found: list[tuple[str, str]] = []
    if requested.license_classes is not None:
        found += [("rights", CHOSEN), *(("license_class", str(item)) for item in requested.license_classes)]
    if requested.buckets is not None:
        found += [("collections", CHOSEN), *(("bucket", item) for item in requested.buckets)]
    if requested.year_min is not None:
        found.append(("year_min", str(requested.year_min)))
    if requested.year_max is not None:
        found.append(("year_max", str(requested.year_max)))
    if requested.as_of is not None:
        found.append(("as_of", requested.as_of.isoformat()))
    if not requested.exclude_retracted:
        found.append(("include_retracted", "on"))
    return [(name, value) for name, value in found if name not in without]


class TitleForm(forms.Form):
    """A name for a conversation; empty goes back to its first question."""

    title = forms.CharField(required=False, max_length=LONGEST_TITLE, label=_("Title"))


class WordsForm(forms.Form):
    """What somebody has to say, in their own words."""

    words = forms.CharField(
        max_length=LONGEST_COMMENT,
        label=_("In your words"),
        error_messages={"required": _("Say it in a few words first.")},
    )

    def clean_words(self) -> str:
        words = visible(self.cleaned_data["words"]).strip()
        if not words:
            raise forms.ValidationError(_("Say it in a few words first."))
        return words


class NoteForm(forms.Form):
    """A remark that may be left out."""

    words = forms.CharField(required=False, max_length=LONGEST_COMMENT, label=_("A note, if you like"))

    def clean_words(self) -> str:
        return visible(self.cleaned_data["words"]).strip()
