"""Where the neighbours of an entity are drawn."""

from __future__ import annotations

from itertools import combinations
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.graph import drawing
from retrieval.graph.drawing import Box, Drawing, Neighbour


def neighbour(number: int, *, is_outgoing: bool = True, name: str = "", label: str = "produces") -> Neighbour:
    return Neighbour(
        id=UUID(int=number + 1),
        name=name or f"Neighbour {number}",
        label=label,
        says=f"it produces {number}",
        is_outgoing=is_outgoing,
    )


neighbours = st.lists(
    st.tuples(st.booleans(), st.text(min_size=1, max_size=300), st.text(min_size=1, max_size=80)),
    min_size=1,
    max_size=drawing.MOST_NEIGHBOURS,
).map(
    lambda rows: [
        neighbour(n, is_outgoing=out, name=name, label=label) for n, (out, name, label) in enumerate(rows)
    ]
)


def meet(one: Box, other: Box) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def lies_in(box: Box, drawn: Drawing) -> bool:
    return (
        box.x >= 0 and box.y >= 0 and box.x + box.width <= drawn.width and box.y + box.height <= drawn.height
    )


@pytest.mark.parametrize("draw", [drawing.wide, drawing.narrow])
@given(neighbours=neighbours)
def test_no_two_boxes_meet_and_all_lie_in_the_drawing(draw: object, neighbours: list[Neighbour]) -> None:
    drawn = draw("Methane", neighbours)  # type: ignore[operator]

    boxes = [drawn.middle, *(one.box for one in drawn.neighbours)]
    assert not any(meet(one, other) for one, other in combinations(boxes, 2))
    assert all(lies_in(box, drawn) for box in boxes)
    assert all(0 < one.line.label_y < drawn.height for one in drawn.neighbours)


@pytest.mark.parametrize("draw", [drawing.wide, drawing.narrow])
@given(neighbours=neighbours)
def test_neighbours_are_reached_by_tab_in_the_order_they_are_given(
    draw: object, neighbours: list[Neighbour]
) -> None:
    drawn = draw("Methane", neighbours)  # type: ignore[operator]

    assert [one.neighbour for one in drawn.neighbours] == neighbours
    assert drawn == draw("Methane", neighbours)  # type: ignore[operator]


@given(text=st.text(max_size=400), room=st.floats(min_value=20, max_value=400))
def test_what_is_fitted_is_a_beginning_of_the_text_and_no_wider_than_the_room(text: str, room: float) -> None:
    found = drawing.fitted(text, room)

    assert text.startswith(found.removesuffix("…").rstrip())
    assert sum(drawing._width(letter) for letter in found) <= room


def test_what_it_acts_on_is_on_the_right() -> None:
    drawn = drawing.wide("Methane", [neighbour(0), neighbour(1, is_outgoing=False)])

    right, left = (one.box for one in drawn.neighbours)
    assert left.x + left.width < drawn.middle.x < drawn.middle.x + drawn.middle.width < right.x


def test_a_side_that_is_much_longer_gives_to_the_other() -> None:
    drawn = drawing.wide("Methane", [neighbour(number) for number in range(12)])

    on_the_left = [one for one in drawn.neighbours if one.box.x < drawn.middle.x]
    assert len(on_the_left) in (5, 6)
    # Outwards still: the arrow head is at the neighbour.
    assert all(one.line.head.startswith(f"M{one.box.x + one.box.width} ") for one in on_the_left)


def test_a_narrow_drawing_is_as_wide_as_the_narrowest_screen() -> None:
    drawn = drawing.narrow("Methane", [neighbour(number) for number in range(12)])

    assert drawn.width == 320
    assert drawing.wide("Methane", [neighbour(0)]).width > 700
