"""The neighbourhood of an entity as a drawing: where boxes, lines and words go. Pure.

The same neighbours give the same drawing. Names are strangers' words: they are cut to what a box has room
for, and a box clips what is wider than it looks.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

MOST_NEIGHBOURS = 12


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entity beside the one in the middle. `says` is the whole relation, `label` what fits on a line."""

    id: UUID
    name: str
    label: str
    says: str
    is_outgoing: bool


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with a name in it."""

    x: int
    y: int
    width: int
    height: int
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line from the middle to a neighbour, its arrow head, and the words above it."""

    path: str
    head: str
    label: str
    label_x: int
    label_y: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """A neighbour with its place."""

    neighbour: Neighbour
    box: Box
    line: Line


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing of `width` by `height` units."""

    width: int
    height: int
    middle: Box
    neighbours: tuple[Drawn, ...]

    @property
    def view_box(self) -> str:
        """What of the plane is shown: with room for the width of lines at the edges."""
        return f"-2 -2 {self.width + 4} {self.height + 4}"


@dataclass(frozen=True, slots=True)
class _Measures:
    box: int
    run: int
    bend: int
    middle: int
    row: int
    height: int
    port: int


_WIDE = _Measures(box=212, run=118, bend=64, middle=196, row=56, height=38, port=16)
_NARROW_WIDTH = 320
_NARROW_ROW = 66
_BRANCH = 34
_HEAD = 8
# One unit is about the width of a small letter at the size the drawing is set in.
_UNIT = 7.8


def wide(name: str, neighbours: Sequence[Neighbour]) -> Drawing:
    """Draw the entity in the middle with its neighbours on both sides: what it acts on is on the right.

    A side that would be much longer gives its last ones to the other.
    """
    size = _WIDE
    left, right = _sides(neighbours)
    rows = max(len(left), len(right), 1)
    height = rows * size.row
    middle_height = max(56, rows * size.port + 24)
    reach = size.box + size.run + size.bend
    middle = Box(
        reach, (height - middle_height) // 2, size.middle, middle_height, fitted(name, size.middle - 20)
    )
    drawn = [
        _beside(one, index, side, middle, height, is_right=is_right)
        for side, is_right in ((left, False), (right, True))
        for index, one in enumerate(side)
    ]
    order = {one.id: number for number, one in enumerate(neighbours)}
    drawn.sort(key=lambda one: order[one.neighbour.id])
    return Drawing(2 * reach + size.middle, height, middle, tuple(drawn))


def narrow(name: str, neighbours: Sequence[Neighbour]) -> Drawing:
    """Draw the entity on top and its neighbours below each other, for a screen of 320 pixels."""
    middle = Box(0, 2, _NARROW_WIDTH, 44, fitted(name, _NARROW_WIDTH - 24))
    drawn = []
    for index, one in enumerate(neighbours):
        top = 58 + index * _NARROW_ROW
        box = Box(_BRANCH, top + 22, _NARROW_WIDTH - _BRANCH - 1, 36, fitted(one.name, _NARROW_WIDTH - 70))
        y = box.y + box.height // 2
        line = Line(
            path=f"M14 46V{y}H{_BRANCH}",
            head=_head(_BRANCH if one.is_outgoing else _BRANCH - _HEAD - 4, y, points_right=one.is_outgoing),
            label=fitted(one.label, _NARROW_WIDTH - 60),
            label_x=_BRANCH + 2,
            label_y=top + 16,
        )
        drawn.append(Drawn(one, box, line))
    return Drawing(_NARROW_WIDTH, 58 + len(neighbours) * _NARROW_ROW, middle, tuple(drawn))


def fitted(text: str, room: float) -> str:
    """Return `text` cut to what fits in `room` units of length, an ellipsis in place of the rest.

    >>> fitted("anaerobic digestion", 100)
    'anaerobic d…'
    """
    if sum(_width(letter) for letter in text) <= room:
        return text
    kept, used = "", _UNIT
    for letter in text:
        used += _width(letter)
        if used > room:
            break
        kept += letter
    return kept.rstrip() + "…"


def _width(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 2 * _UNIT
    return 1.3 * _UNIT if letter.isupper() or letter in "mw%@" else _UNIT


def _sides(neighbours: Sequence[Neighbour]) -> tuple[list[Neighbour], list[Neighbour]]:
    left = [one for one in neighbours if not one.is_outgoing]
    right = [one for one in neighbours if one.is_outgoing]
    while len(left) > len(right) + 1:
        right.append(left.pop())
    while len(right) > len(left) + 1:
        left.append(right.pop())
    return left, right


def _beside(
    one: Neighbour, index: int, side: Sequence[Neighbour], middle: Box, height: int, *, is_right: bool
) -> Drawn:
    """Place a neighbour on one side of the middle, with a line that ends level at its box."""
    size = _WIDE
    y = height // 2 + round((index - (len(side) - 1) / 2) * size.row)
    port_y = height // 2 + round((index - (len(side) - 1) / 2) * size.port)
    way = 1 if is_right else -1
    port_x = middle.x + (middle.width if is_right else 0)
    level_x = port_x + way * size.bend
    near_x = level_x + way * size.run
    half = level_x - way * size.bend // 2
    box_x = near_x if is_right else near_x - size.box
    if one.is_outgoing:
        head = _head(near_x, y, points_right=is_right)
    else:
        head = _head(port_x, port_y, points_right=not is_right)
    line = Line(
        path=f"M{port_x} {port_y}C{half} {port_y} {half} {y} {level_x} {y}H{near_x}",
        head=head,
        label=fitted(one.label, size.run - 8),
        label_x=(level_x + near_x) // 2,
        label_y=y - 6,
    )
    box = Box(box_x, y - size.height // 2, size.box, size.height, fitted(one.name, size.box - 24))
    return Drawn(one, box, line)


def _head(x: int, y: int, *, points_right: bool) -> str:
    """Return the path of an arrow head whose tip is at (x, y)."""
    back = -_HEAD if points_right else _HEAD
    return f"M{x} {y}l{back} -5v10z"
