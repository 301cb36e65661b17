"""Text that a file holds and no reader sees: what is found, and how it was hidden. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

# A document is looked at, not copied: so much of each place, and so many places.
LONGEST_QUOTE = 400
MOST_PLACES = 40


class How(StrEnum):
    """Why nobody sees it."""

    SAME_COLOUR = "same_colour"
    NO_INK = "no_ink"
    TINY = "tiny"
    OFF_PAGE = "off_page"
    MARKED = "marked"
    # Web pages keep much of themselves so until it is asked for: no secret, unless it gives orders.
    NOT_DISPLAYED = "not_displayed"


@dataclass(frozen=True, slots=True)
class Hidden:
    """One place. `page` is known where the format has pages."""

    how: How
    text: str
    page: int | None = None


def kept(found: Iterable[Hidden]) -> tuple[Hidden, ...]:
    """Return places as they are kept: shortened, without those that hold no letter."""
    places = []
    for one in found:
        text = " ".join(one.text.split())[:LONGEST_QUOTE]
        if any(sign.isalpha() for sign in text):
            places.append(Hidden(one.how, text, one.page))
        if len(places) == MOST_PLACES:
            break
    return tuple(places)
