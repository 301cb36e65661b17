"""Reading order of a page: columns found by the white corridor between them, left column first.

What spans the corridor (titles, abstracts, wide figures and tables) divides the page into bands; each band
is read column by column, and each column is looked at again for columns of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

_FULL_TEXT = 16  # characters from which a line counts as running text rather than a label or cell
_FEWEST_LINES = 3.0
_NARROWEST_CORRIDOR = 4.0
_DEEPEST = 4


class Placed(Protocol):
    """Anything with a place on the page: a line, a table, a figure."""

    left: float
    right: float
    top: float
    bottom: float
    baseline: float

    @property
    def text(self) -> str: ...


Item = TypeVar("Item", bound=Placed)


@dataclass(frozen=True, slots=True)
class Corridor:
    """A white strip that divides two columns."""

    left: float
    right: float
    score: float


def reading_order(items: Sequence[Item], *, depth: int = 0) -> list[list[Item]]:
    """Return the items in reading order as streams: each stream is one column of one band, top to bottom."""
    corridor = find_corridor(items) if depth < _DEEPEST else None
    if corridor is None:
        return [sorted(items, key=lambda item: (item.top + item.bottom, item.left))] if items else []
    streams: list[list[Item]] = []
    for spanning, left, right in _bands(items, corridor):
        if spanning:
            streams.append(spanning)
        streams.extend(reading_order(left, depth=depth + 1))
        streams.extend(reading_order(right, depth=depth + 1))
    return streams


def find_corridor(items: Sequence[Item]) -> Corridor | None:
    """Return the best dividing strip, or None when the items are one column.

    A strip counts by the height of running text it has on its poorer side, within the bands that no
    spanning item interrupts.
    """
    if len(items) < 2 * _FEWEST_LINES:
        return None
    best: Corridor | None = None
    for x in _candidates(items):
        corridor = _measure(items, x)
        if corridor is not None and (best is None or corridor.score > best.score):
            best = corridor
    return best


def _candidates(items: Sequence[Item]) -> list[float]:
    """Return the middles of the gaps between neighbours on one height, one for each three points."""
    ordered = sorted(items, key=lambda item: item.top)
    buckets: dict[int, float] = {}
    for place, item in enumerate(ordered):
        for other in ordered[place + 1 :]:
            if other.top >= item.bottom:
                break
            if max(len(item.text), len(other.text)) < _FULL_TEXT:
                continue
            left, right = (item, other) if item.left <= other.left else (other, item)
            if right.left - left.right >= _NARROWEST_CORRIDOR:
                for x in (right.left - _NARROWEST_CORRIDOR / 2, (left.right + right.left) / 2):
                    buckets.setdefault(round(x / 3), x)
    return sorted(buckets.values())


def _measure(items: Sequence[Item], x: float) -> Corridor | None:
    """Return the corridor at `x` with its score, or None where the text there is not in columns."""
    line = _median_height(items)
    sides = [_side(item, x) for item in items]
    counts_all = _is_sidebar(items, sides)
    in_band = [0.0, 0.0]
    score = crossing = 0.0
    for item, side in sorted(zip(items, sides, strict=True), key=lambda pair: pair[0].top):
        height = item.bottom - item.top
        if side is None:
            score += _worth(in_band, line)
            in_band = [0.0, 0.0]
        elif item.left < x < item.right:
            crossing += height
        elif counts_all or len(item.text) >= _FULL_TEXT:
            in_band[side] += height
    edges = _edges(items, sides, x)
    score += _worth(in_band, line) - 2 * crossing
    if score < _FEWEST_LINES * line or edges[1] - edges[0] < _NARROWEST_CORRIDOR:
        return None
    if not counts_all and (_is_grid(items, x) or not _fills(items, sides, edges)):
        return None
    # A gap narrower than a line is high may be chance; a gutter is not.
    return Corridor(edges[0], edges[1], score * min(1.0, (edges[1] - edges[0]) / line))


def _edges(items: Sequence[Item], sides: Sequence[int | None], x: float) -> tuple[float, float]:
    """Return where the running text left of `x` ends and right of it begins; else where any item does."""
    beside = [(item, side) for item, side in zip(items, sides, strict=True) if not item.left < x < item.right]
    full = [pair for pair in beside if len(pair[0].text) >= _FULL_TEXT]
    left = [item.right for item, side in full if side == 0] or [i.right for i, side in beside if side == 0]
    right = [item.left for item, side in full if side == 1] or [i.left for i, side in beside if side == 1]
    return max(left, default=-1e9), min(right, default=1e9)


def _worth(in_band: Sequence[float], line: float) -> float:
    """Return the height of text that a band has on both sides; a line or two may stand apart by chance."""
    return min(in_band) if min(in_band) >= 2.5 * line else 0.0


def _is_sidebar(items: Sequence[Item], sides: Sequence[int | None]) -> bool:
    """Whether one side is a narrow column of short lines that share no rows with the text beside them."""
    left = [item for item, side in zip(items, sides, strict=True) if side == 0]
    right = [item for item, side in zip(items, sides, strict=True) if side == 1]
    narrow, wide = sorted((left, right), key=lambda side: sum(len(item.text) for item in side))
    if len(narrow) < 4 or sum(len(item.text) >= 2 * _FULL_TEXT for item in wide) < 8:
        return False
    heights = {height for item in wide for height in range(int(item.top), int(item.bottom) + 1)}
    baselines = {round(item.baseline) + step for item in wide for step in (-1, 0, 1)}
    beside = [item for item in narrow if int(item.baseline) in heights and _has_word(item)]
    aligned = sum(round(item.baseline) in baselines for item in beside)
    return len(beside) >= 4 and aligned * 2 < len(beside)


def _has_word(item: Placed) -> bool:
    return sum(char.isalpha() for char in item.text) > 2


def _side(item: Placed, x: float) -> int | None:
    """Return 0 or 1 for the side of `x` an item is on, None for one that spans it.

    A line that only sticks out across the corridor stays in its column.
    """
    before, after = x - item.left, item.right - x
    if before <= 0 or after <= 0:
        return int(before <= 0)
    if min(before, after) < 0.2 * max(before, after):
        return int(after > before)
    return None


def _median_height(items: Sequence[Placed]) -> float:
    heights = sorted(item.bottom - item.top for item in items if len(item.text) >= _FULL_TEXT)
    return heights[len(heights) // 2] if heights else 1e9


def _fills(items: Sequence[Item], sides: Sequence[int | None], edges: tuple[float, float]) -> bool:
    """Whether the running text of both sides goes nearly from edge to edge, as cells of a table do not.

    Half is enough: a side may hold two columns of its own.
    """
    for wanted in (0, 1):
        side = [item for item, at in zip(items, sides, strict=True) if at == wanted]
        widths = sorted(item.right - item.left for item in side if len(item.text) >= _FULL_TEXT)
        outer = min(item.left for item in side) if wanted == 0 else max(item.right for item in side)
        if widths[int(0.75 * (len(widths) - 1))] < 0.42 * abs(edges[wanted] - outer):
            return False
    return True


def _is_grid(items: Sequence[Item], x: float) -> bool:
    """Whether the sides are cells of table rows: most lines of a side are short. Labels of figures,
    smaller than the text, do not count."""
    least = 0.85 * _median_height(items)
    for wanted in (0, 1):
        side = [item for item in items if _side(item, x) == wanted and item.bottom - item.top >= least]
        full = sum(len(item.text) >= _FULL_TEXT for item in side)
        if full * 2.5 < len(side) and full < 8:
            return True
    return False


def _bands(items: Sequence[Item], corridor: Corridor) -> list[tuple[list[Item], list[Item], list[Item]]]:
    """Return (spanning, left, right) for each band from top to bottom."""
    x = (corridor.left + corridor.right) / 2
    bands: list[tuple[list[Item], list[Item], list[Item]]] = [([], [], [])]
    for item in sorted(items, key=lambda one: (one.top + one.bottom, one.left)):
        spanning, left, right = bands[-1]
        side = _side(item, x) if not _lies_in(corridor, item) else _side_of_row(items, item, x)
        if side is not None and not left and not right and spanning and _goes_on(spanning[-1], item, items):
            spanning.append(item)
        elif side is not None:
            (right if side else left).append(item)
        elif left or right:
            bands.append(([*_heading_of(item, left, right), item], [], []))
        else:
            spanning.append(item)
    return bands


def _heading_of(item: Item, left: list[Item], right: Sequence[Item]) -> list[Item]:
    """Take from the left column the short line above the spanning `item` that heads it, if there is one."""
    if len(left) < 2 or not right:
        return []
    before, last = left[-2:]
    width = max(one.right for one in left) - min(one.left for one in left)
    is_short = last.right - last.left < 0.75 * width and abs(last.left - item.left) < 3
    gap_above, gap_below = last.baseline - before.baseline, item.baseline - last.baseline
    is_below = max(one.bottom for one in right) < last.top + 1
    if (
        is_short
        and is_below
        and 0 < gap_below < 2.2 * (last.bottom - last.top)
        and gap_above > 1.6 * gap_below
    ):
        left.pop()
        return [last]
    return []


def _lies_in(corridor: Corridor, item: Placed) -> bool:
    return corridor.left - 1 < item.left and item.right < corridor.right + 1


def _side_of_row(items: Sequence[Placed], item: Placed, x: float) -> int:
    """Return the side whose nearest line shares the row of an item in the corridor: the number of a line."""
    row = [one for one in items if one is not item and abs(one.baseline - item.baseline) < 1]
    gaps = {1: 1e9, 0: 1e9}
    for one in row:
        side = int(one.left > x)
        gaps[side] = min(gaps[side], one.left - item.right if side else item.left - one.right)
    return min(gaps, key=lambda side: gaps[side])


def _goes_on(before: Placed, item: Placed, items: Sequence[Placed]) -> bool:
    """Whether `item` is a further, shorter line of the spanning text that ends with `before`."""
    height = before.bottom - before.top
    is_alike = abs(item.bottom - item.top - height) < 0.2 * height and abs(item.left - before.left) < 3
    if not is_alike or item.top - before.bottom > 0.7 * height:
        return False
    beside = (
        other for other in items if other is not item and other.top < item.bottom and item.top < other.bottom
    )
    return not any(other.left > item.right or other.right < item.left for other in beside)
