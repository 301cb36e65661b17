"""The numbers and levels of headings: how deep each stands, and which are items of a list."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from corpus.parsing.pdf_paragraphs import Paragraph

_SECTION_NUMBER = re.compile(
    r"(?:Chapter\s+|Section\s+|Appendix\s+)?([A-Z]|\d{1,2})((?:\.\d{1,2}){0,4})\.?\s+\S", re.IGNORECASE
)
_LIST_NUMBER = re.compile(r"(\d{1,2})[.)]\s")
DEEPEST_LEVEL = 5
_FARTHEST_ITEM = 8

Look = tuple[float, bool]


def depth_of(text: str) -> int:
    """Return the depth of the section number a heading begins with, 0 where it has none."""
    found = _SECTION_NUMBER.match(text)
    if found is None or (found[1].isalpha() and not found[2] and not text.lower().startswith("appendix")):
        return 0
    return min(found[2].count(".") + 1, DEEPEST_LEVEL)


def levels_of(headings: Sequence[tuple[Look, int]]) -> dict[Look, int]:
    """Return the level of each heading type: the depth its numbered headings have, else its rank by size."""
    ranked = sorted({look for look, _ in headings}, reverse=True)
    levels: dict[Look, int] = {}
    rank, above = 0, (1e9, True)
    for look in ranked:
        # Sizes half a point apart are one rank.
        rank += above[0] - look[0] > 0.7 or above[1] != look[1]
        above = look
        depths = Counter(depth for other, depth in headings if other == look and depth)
        levels[look] = depths.most_common(1)[0][0] if depths else min(rank, DEEPEST_LEVEL)
    return levels


def without_items(
    headings: Sequence[Paragraph], paragraphs: Sequence[Paragraph], *, largest: float
) -> list[Paragraph]:
    """Return the headings without bold items of numbered lists: their neighbours by number are items.

    Headings in type larger than `largest` stay.
    """
    kept = {id(part) for part in headings}
    numbers = [(part, _number(part)) for part in paragraphs]
    items: set[int] = set()
    for place, (part, number) in enumerate(numbers):
        if id(part) not in kept or not number or part.style.size > largest:
            continue
        before = numbers[max(0, place - _FARTHEST_ITEM) : place]
        near = [id(one) for one, other in before if other == number - 1 > 0]
        is_after_item = bool(near) and (near[-1] in items or near[-1] not in kept)
        is_followed = any(other == number + 1 for _, other in numbers[place + 1 : place + 2])
        if is_followed or is_after_item:
            items.add(id(part))
    return [part for part in headings if id(part) not in items]


def _number(part: Paragraph) -> int:
    """Return the number an item or heading begins with, 0 where it has none or one of several parts."""
    found = _LIST_NUMBER.match(part.lines[0].text)
    return int(found[1]) if found else 0
