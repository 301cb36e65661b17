"""What was done to the sources before the model read them, in one line. No queries here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from answers.condensing import RECORD, Outcome
from answers.models import Answer

_WHY_WHOLE = {
    Outcome.SHORT: gettext_lazy("short already"),
    Outcome.NO_DERIVATIVES: gettext_lazy("to be quoted verbatim"),
    Outcome.ALL_IRRELEVANT: gettext_lazy("all were called irrelevant"),
    Outcome.MALFORMED: gettext_lazy("the reply was not usable"),
    Outcome.FIGURES: gettext_lazy("the summary had figures the passage lacks"),
    Outcome.LONGER: gettext_lazy("the summary was longer"),
    Outcome.TIMEOUT: gettext_lazy("no summary came in time"),
    Outcome.UNAVAILABLE: gettext_lazy("the model could not be reached"),
    Outcome.RATE_LIMITED: gettext_lazy("the model was busy"),
    Outcome.REJECTED: gettext_lazy("the model refused"),
    Outcome.GARBAGE: gettext_lazy("the reply was not usable"),
    Outcome.CUT_OFF: gettext_lazy("the reply was cut off"),
    Outcome.WITHHELD: gettext_lazy("kept from the model by their licence"),
    Outcome.BROKEN: gettext_lazy("something went wrong"),
}


def of(answer: Answer) -> str:
    """Return the line for a stored answer; empty when its sources were not condensed."""
    record = answer.model_parameters.get(RECORD)
    return line(record) if record else ""


def line(record: Mapping[str, Any]) -> str:
    """Return what became of the sources, the prompt's tokens before and after, and why some are whole."""
    total = len(record["sources"])
    tokens = record["tokens"]
    told = ngettext("Condensed: %(n)s source", "Condensed: %(n)s sources", total) % {"n": total}
    parts = [
        told,
        _("{before} → {after} tokens").format(before=f"{tokens['before']:,}", after=f"{tokens['after']:,}"),
    ]
    if aside := record["set_aside"]:
        parts.append(_("{n} set aside as not relevant").format(n=aside))
    parts += [
        _("{n} kept whole ({why})").format(n=count, why=_WHY_WHOLE[Outcome(outcome)])
        for outcome, count in record["whole"].items()
    ]
    return ", ".join(parts) + "."
