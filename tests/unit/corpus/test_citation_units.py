"""How passages are named and what they point at."""

import pytest

from corpus.citation_units import (
    forward_references,
    on_slide,
    pages_label,
    section_unit,
    slides_label,
    table_label,
    table_locator,
    table_unit,
    text_locator,
)


@pytest.mark.parametrize(
    ("caption", "label"),
    [
        ("Table 3. Yields", "Table 3"),
        ("TABLE IV: Costs", "Table IV"),
        ("Tab. 2 Ash", "Table 2"),
        ("Table A.1 Sites", "Table A.1"),
        ("Table S3 Strains", "Table S3"),
        ("Tables were set", ""),
        ("Yields of straw", ""),
    ],
)
def test_a_table_is_called_what_its_caption_calls_it(caption, label):
    assert table_label(caption) == label


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        (["2 Methods", "2.1 Feedstock"], "section:2.1"),
        (["3. Results"], "section:3"),
        (["Annex I Forms"], "annex:i"),
        (["Appendix B"], "appendix:b"),
        (["Article 5 Duties"], "article:5"),
        (["Methods", "Drying & storage"], "section:methods/drying-storage"),
    ],
)
def test_a_section_has_one_canonical_name(path, unit):
    assert section_unit(path, 7, 0) == unit


def test_without_sections_the_page_is_the_unit_and_without_pages_the_passage():
    assert section_unit([], 7, 3) == "page:7"
    assert section_unit([], None, 3) == "passage:3"


def test_long_names_are_cut_and_stay_different():
    one, two = (section_unit(["x" * 250 + end], None, 0) for end in "ab")

    assert one != two
    assert len(one) == len(two) == 200
    assert len(text_locator(["x" * 290], "", 0)) == 200
    assert table_locator("", ["x" * 290], "", (2, 3)).endswith("\u2026, part 2 of 3")


def test_pages_are_named_as_readers_name_them():
    assert (pages_label(7, 7), pages_label(7, 9), pages_label(None, None)) == ("p. 7", "pp. 7\u20139", "")


def test_tables_without_a_number_are_told_apart_by_order():
    assert table_unit("Table 3", 9) == "table:3"
    assert table_unit("", 1) != table_unit("", 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see Tables 2, 3 and 5", ("Table 2", "Table 3", "Table 5")),
        ("Figs. 4a & 4b", ("Figure 4a", "Figure 4b")),
        ("in Eq. (3) and Section 2.1.4", ("Equation 3", "Section 2.1.4")),
        ("Appendices A and Annex II", ("Appendix A", "Annex II")),
        ("as shown [3\u20135] and [7; 9]", ("[3]", "[4]", "[5]", "[7]", "[9]")),
        ("[1999-12000] is no range", ()),
        ("[5-2] and [2000-2999]", ("[5]", "[2]", "[2000]", "[2999]")),
        ("Table 2 and 30% more", ("Table 2",)),
        ("Figures 6\u20138 and Table 4-1", ("Figure 6", "Figure 8", "Table 4-1")),
        ("Section A of the wing", ()),
        ("the table was set", ()),
    ],
)
def test_forward_references(text, expected):
    assert forward_references(text) == expected


def test_a_passage_does_not_point_at_itself():
    assert forward_references("Table 3. See Table 4.", own_label="Table 3") == ("Table 4",)


def test_slides_are_named_as_slides() -> None:
    assert (slides_label(7, 7), slides_label(7, 9), slides_label(None, None)) == (
        "slide 7",
        "slides 7\u20139",
        "",
    )


def test_a_slide_stands_behind_the_locator_once() -> None:
    assert on_slide("Results", "slide 2") == "Results, slide 2"
    assert on_slide("Table on slide 2", "slide 2") == "Table on slide 2"
    assert on_slide("As on slide 12", "slide 1") == "As on slide 12, slide 1"
    assert on_slide("Results", "") == "Results"
    assert len(on_slide("x" * 200, "slide 2")) == 200
