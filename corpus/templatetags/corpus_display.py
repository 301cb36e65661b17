"""How rights, editorial states and passages are written on a page."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.translation import gettext_lazy as _

from corpus.rights import LABELS, parse_class

register = template.Library()

# Word shown on the badge, and the sentence behind it.
STANDINGS = {
    "retracted": (_("Retracted"), _("The publisher or an index says this work is retracted.")),
    "concern": (_("Expression of concern"), _("The publisher has voiced concern about this work.")),
    "corrected": (_("Corrected"), _("A correction to this work has been published.")),
    "superseded": (_("Superseded"), _("A newer version replaces this one.")),
}


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
    return _("p. {first}").format(first=first) if last in (None, first) else f"pp. {first}–{last}"


@register.filter
def table_rows(text: str) -> list[list[str]] | None:
    """Return the cells of a table passage written with pipes; None when it is not written so."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    rows = [line.strip("|").split("|") for line in lines if line.startswith("|")]
    if len(rows) < 2:
        return None
    return [[cell.strip() for cell in row] for row in rows if not _is_rule(row)]


def _is_rule(cells: list[str]) -> bool:
    return all(set(cell.strip()) <= {"-", ":"} and cell.strip() for cell in cells)
