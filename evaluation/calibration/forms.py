"""The forms of calibration. What was typed is kept."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluation.actions.calibration import LONGEST_REASON
from evaluation.calibration.sampling import SEED, SIZE
from evaluation.judging.rubric import DIMENSIONS, GRADES
from evaluation.runs.models import EvaluationRun

_CHOICES = [(str(grade), str(grade)) for grade in GRADES]


class GradesForm(forms.Form):
    """A grade for each dimension."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name in DIMENSIONS:
            self.fields[name] = forms.ChoiceField(
                choices=_CHOICES, error_messages={"required": _("Choose 0, 1 or 2.")}
            )

    def grades(self) -> dict[str, int]:
        """Return what was chosen in a valid form."""
        return {name: int(self.cleaned_data[name]) for name in DIMENSIONS}


class SkipForm(forms.Form):
    """Why an item is left to others."""

    reason = forms.CharField(
        max_length=LONGEST_REASON, error_messages={"required": _("Say why you skip this item.")}
    )


class DrawForm(forms.Form):
    """Of which run how many answers are drawn, and by which seed."""

    size = forms.IntegerField(min_value=1, max_value=500, initial=SIZE)
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=SEED)

    def __init__(self, *arguments: Any, runs: list[EvaluationRun], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.runs = runs
        self.fields["run"] = forms.ChoiceField(
            choices=[(str(run.pk), str(run)) for run in runs],
            error_messages={
                "required": _("Choose a run."),
                "invalid_choice": _("Choose a run that has finished."),
            },
        )
