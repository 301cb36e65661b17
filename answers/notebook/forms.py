"""Notes and the names of works, as a browser sends them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from answers.notebook import naming
from answers.notebook.actions import Words
from answers.notebook.models import LONGEST_TEXT, LONGEST_TITLE, Observation, ObservationSource
from answers.notebook.naming import Named, NotNamed
from corpus.models import Source
from corpus.normalise import visible

MOST_NAMED = 20
LONGEST_SEARCH = 300
_EMPTY = gettext_lazy("Write what you want to keep first.")
_KIND_LABELS = dict(Source.IdentifierType.choices) | {naming.TITLE: gettext_lazy("Title alone")}
NAME_CHOICES = [(kind, _KIND_LABELS[kind]) for kind in naming.KINDS]


class ObservationForm(forms.Form):
    """A note, with room to name works."""

    text = forms.CharField(
        max_length=LONGEST_TEXT, label=gettext_lazy("Note"), error_messages={"required": _EMPTY}
    )
    kind = forms.ChoiceField(choices=Observation.Kind.choices, label=gettext_lazy("Kind"))
    title = forms.CharField(
        required=False, max_length=LONGEST_TITLE, label=gettext_lazy("Title, if you like")
    )
    is_shared = forms.BooleanField(required=False, label=gettext_lazy("Share with everyone who signs in"))
    named = forms.CharField(
        required=False,
        max_length=MOST_NAMED * naming.LONGEST,
        label=gettext_lazy("Works you cite, one on each line"),
    )

    def clean_text(self) -> str:
        """Return the words without what nobody would see; refuse what is nothing else."""
        words = visible(self.cleaned_data["text"]).strip()
        if not words:
            raise forms.ValidationError(_EMPTY)
        return words

    def clean_title(self) -> str:
        """Return the title as one line."""
        return " ".join(visible(self.cleaned_data["title"]).split())

    def clean_named(self) -> list[Named]:
        """Return the works that the lines name; say which line names none."""
        lines = self.cleaned_data["named"].splitlines()
        filled = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
        if len(filled) > MOST_NAMED:
            raise forms.ValidationError(
                _("Name %(most)s works at once, or fewer."), params={"most": MOST_NAMED}
            )
        works, problems = [], []
        for number, line in filled:
            try:
                works.append(naming.named(line))
            except NotNamed as refusal:
                problems.append(_("Line %(number)s: %(why)s") % {"number": number, "why": refusal})
        if problems:
            raise forms.ValidationError(problems)
        return works

    def words(self) -> Words:
        """Return what was written. Only of a valid form."""
        cleaned = self.cleaned_data
        return Words(
            text=cleaned["text"], kind=cleaned["kind"], title=cleaned["title"], is_shared=cleaned["is_shared"]
        )


class CiteForm(forms.Form):
    """One work, named by whoever keeps the note."""

    work = forms.CharField(
        max_length=naming.LONGEST,
        label=gettext_lazy("Identifier or title"),
        error_messages={"required": gettext_lazy("Name the work first.")},
    )
    kind = forms.ChoiceField(required=False, choices=NAME_CHOICES, label=gettext_lazy("What it is"))
    title = forms.CharField(
        required=False, max_length=naming.LONGEST_TITLE, label=gettext_lazy("What you call it, if you like")
    )
    relationship = forms.ChoiceField(
        choices=[
            choice
            for choice in ObservationSource.Relationship.choices
            if choice[0] != ObservationSource.Relationship.RETRIEVED
        ],
        label=gettext_lazy("Relationship"),
    )

    def clean(self) -> dict[str, Any]:
        """Find out what is named."""
        cleaned = super().clean() or self.cleaned_data
        if "work" in cleaned and "kind" in cleaned and "title" in cleaned:
            try:
                cleaned["named"] = naming.named(cleaned["work"], kind=cleaned["kind"], title=cleaned["title"])
            except NotNamed as refusal:
                self.add_error("work", str(refusal))
        return cleaned


class FindForm(forms.Form):
    """What is looked for in the notebook, `q` being words; what is no choice does not narrow."""

    kind = forms.ChoiceField(required=False, choices=Observation.Kind.choices)
    whose = forms.ChoiceField(required=False, choices=[("mine", "mine"), ("shared", "shared")])

    def wanted(self) -> dict[str, str]:
        """Return what narrows, by name."""
        self.is_valid()
        text = self.data.get("q", "").replace("\0", "")[:LONGEST_SEARCH].strip()
        return {"q": text, **{name: self.cleaned_data.get(name, "") for name in ("kind", "whose")}}
