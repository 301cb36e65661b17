"""What the grades mean, as it stands beside every item. The judge's prompts say the same."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evaluation.judging.rubric import DIMENSIONS


@dataclass(frozen=True, slots=True)
class Guideline:
    """One dimension: its name, the question it asks, and what each grade stands for, best first."""

    name: str
    label: str | Promise
    asks: str | Promise
    grades: tuple[tuple[int, str | Promise], ...]
    by_reference: bool = False


ALL = (
    Guideline(
        "groundedness",
        _("Groundedness"),
        _("Do the sources say what the answer claims?"),
        (
            (2, _("Everything is in the sources.")),
            (1, _("Most of it; nothing important goes beyond them.")),
            (0, _("Something important is not in them, or they say otherwise.")),
        ),
    ),
    Guideline(
        "citation_accuracy",
        _("Citation accuracy"),
        _("Does each number point at a source that supports this very claim?"),
        (
            (2, _("Each one does.")),
            (1, _("One is imprecise, or one is missing.")),
            (0, _("They point elsewhere, or there are none.")),
        ),
    ),
    Guideline(
        "completeness",
        _("Completeness"),
        _("Is everything used that the sources say about the question?"),
        (
            (2, _("Everything that was asked for.")),
            (1, _("A part is left out.")),
            (0, _("What matters most is left out.")),
        ),
    ),
    Guideline(
        "correctness",
        _("Correctness"),
        _("Does the answer say what the reference answer says?"),
        (
            (2, _("All of it, with numbers and units, in whatever words.")),
            (1, _("A part of it, or all of it beside a minor contradiction.")),
            (0, _("Something else, or nothing.")),
        ),
        by_reference=True,
    ),
)
BY_NAME = {guideline.name: guideline for guideline in ALL}

if tuple(BY_NAME) != DIMENSIONS:
    raise RuntimeError("every dimension of the rubric needs its guideline")
