"""How rights, editorial states and passages are written on a page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django import template
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from corpus import sentence_marks
from corpus.campaigns import queries as campaigns
from corpus.rights import LABELS, parse_class
from corpus.signed_in import person
from corpus.tables import TableView, table_of

register = template.Library()

# Word shown on the badge, and the sentence behind it.
STANDINGS = {
    "retracted": (_("Retracted"), _("The publisher or an index says this work is retracted.")),
    "concern": (_("Expression of concern"), _("The publisher has voiced concern about this work.")),
    "corrected": (_("Corrected"), _("A correction to this work has been published.")),
    "superseded": (_("Superseded"), _("A newer version replaces this one.")),
    "changed": (_("Changed since ingested"), _("What is kept is not what was taken in")),
}


@register.simple_tag(takes_context=True)
def sees_campaigns(context: template.Context) -> bool:
    """Whether the page's reader may see campaigns."""
    return campaigns.may_look(person(context["request"]))


@register.inclusion_tag("components/license_badge.html")
def license_badge(name: str, *, no_derivatives: bool = False) -> dict[str, Any]:
    """Show a licence class in words."""
    return {"name": name, "label": LABELS[parse_class(name)], "no_derivatives": no_derivatives}


@register.inclusion_tag("components/standing_badge.html")
def standing_badge(name: str) -> dict[str, Any]:
    """Show an editorial state in words, with what it means as its title."""
    word, meaning = STANDINGS.get(name, (name, ""))
    return {"name": name, "word": word, "meaning": meaning}


@register.filter
def people(names: list[str]) -> str:
    """Write a list of authors: up to three by name, more as 'and N others'."""
    if len(names) <= 3:
        return ", ".join(names)
    return _("{names} and {count} others").format(names=", ".join(names[:2]), count=len(names) - 2)


@register.filter
def pages(thing: Any) -> str:
    """Write the page or pages of a passage; nothing when the format has none."""
    first, last = thing.page_start, thing.page_end
    if first is None:
        return ""
    if last in (None, first):
        return _("p. {first}").format(first=first)
    return _("pp. {first}–{last}").format(first=first, last=last)


@register.filter
def marked_at(text: str, spans: Sequence[sentence_marks.Span] | None) -> list[sentence_marks.Part]:
    """Return the text in parts that are marked or not."""
    return sentence_marks.parts(text, spans or ())


@register.filter
def in_link(spans: Sequence[sentence_marks.Span]) -> str:
    """Write spans for a link's query."""
    return sentence_marks.write(spans)


@register.filter
def as_table(text: str) -> TableView | None:
    """Return the cells of a table passage; None when it is not written as a table."""
    return table_of(text)


@register.filter
def span(length: timedelta) -> str:
    """Write a length of time in words: seconds below a minute, then minutes, then hours."""
    seconds = int(length.total_seconds())
    if seconds < 60:
        return ngettext("%d second", "%d seconds", seconds) % seconds
    minutes = round(seconds / 60)
    if minutes < 90:
        return ngettext("%d minute", "%d minutes", minutes) % minutes
    hours = round(seconds / 3600)
    return ngettext("%d hour", "%d hours", hours) % hours
