"""How layers and what changed since are named on a page."""

from __future__ import annotations

from django import template

from answers.reading import DRIFT_LABELS, Drift
from answers.wording import LAYERS

register = template.Library()


@register.filter
def layer_name(name: str) -> str:
    """Return the words for a layer."""
    return str(LAYERS.get(name, name))


@register.filter
def drift_label(mark: Drift) -> str:
    """Return the words for a change."""
    return DRIFT_LABELS[mark]
