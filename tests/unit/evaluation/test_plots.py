"""Plots are whole SVG documents that say everything without colour, whatever the names are."""

from xml.etree import ElementTree

import pytest

from evaluation.reports.plots import Mark, plot, span

SVG = "{http://www.w3.org/2000/svg}"
MARKS = [
    Mark("full_deep", 0.8, (0.7, 0.9), is_first=True),
    Mark("better_one", 0.9, (0.85, 0.95), "better"),
    Mark("worse_one", 0.6, (0.5, 0.7), "worse"),
    Mark("same_one", 0.8, None, "no difference shown"),
    Mark("<script>&", None, word="not carried out"),
]


def drawn(marks: list[Mark]) -> ElementTree.Element:
    return ElementTree.fromstring(plot("Title & more", "About <it>.", marks, low=0, high=1))  # noqa: S314 - our own


def test_a_plot_has_a_title_and_a_description_with_every_number() -> None:
    svg = drawn(MARKS)

    assert svg.findtext(f"{SVG}title") == "Title & more"
    described = svg.findtext(f"{SVG}desc") or ""
    assert "About <it>." in described
    assert "full_deep 0.800 [0.700, 0.900]" in described
    assert "<script>& not carried out" in described


def test_each_kind_of_mark_has_a_shape_of_its_own() -> None:
    svg = drawn(MARKS)

    assert len(svg.findall(f"{SVG}rect")) == 2  # the paper and the first
    assert len(svg.findall(f"{SVG}circle")) == 1
    triangles = [path.get("d", "") for path in svg.findall(f"{SVG}path") if "h-14z" in path.get("d", "")]
    assert ["l7 12" in one for one in triangles] == [True, False]


def test_everything_stands_within_the_picture() -> None:
    svg = drawn([*MARKS, Mark("far", 7.0, (-3.0, 9.0))])

    width, height = float(svg.get("width", 0)), float(svg.get("height", 0))
    for text in svg.findall(f"{SVG}text"):
        assert 0 <= float(text.get("x", -1)) <= width
        assert 0 <= float(text.get("y", -1)) <= height


@pytest.mark.parametrize("marks", [[], [Mark("none", None)], [Mark("one", 0.0, (0.0, 0.0))]])
def test_bounds_never_collapse(marks: list[Mark]) -> None:
    low, high = span(marks)

    assert low == -high
    assert high > 0
