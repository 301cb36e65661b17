"""From a retrieved passage to each form an answer needs of it: prompt, quotation, check and record. Pure."""

from __future__ import annotations

from retrieval.types import Item


def badges(item: Item) -> list[str]:
    """Return the status of an item's work, as it is now, in the order of weight."""
    marks = {
        "retracted": item.retracted,
        "concern": item.concern,
        "corrected": item.corrected,
        "superseded": f"superseded{successor}",
    }
    return "; ".join(notes[name] for name in badges(item))
