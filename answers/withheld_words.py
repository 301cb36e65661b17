"""Which sources the model could not read for their licence, in one line. No queries here."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from answers import withholding
from answers.models import EXTRACTIVE, Answer


def of(answer: Answer) -> str:
    """Return the line for a stored answer; empty when the model could read every source."""
    return line(withholding.withheld(answer.model_parameters), is_quoted_alone=answer.engine == EXTRACTIVE)


def line(numbers: Sequence[int], *, is_quoted_alone: bool) -> str:
    """Say that these sources could not go to the model, and that they are quoted instead."""
    if not numbers:
        return ""
    if is_quoted_alone:
        return _("The licence of the sources keeps them from the language model, so they are quoted instead.")
    return ngettext(
        "The licence of source %(numbers)s keeps it from the language model: it is quoted where it answers.",
        "The licence of sources %(numbers)s keeps them from the language model: they are quoted where they "
        "answer.",
        len(numbers),
    ) % {"numbers": ", ".join(map(str, numbers))}
