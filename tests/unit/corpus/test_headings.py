"""Headings of raw text: the ones that are and the ones that only look so."""

import pytest

from corpus.headings import heading_level


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("2.1 Feedstock handling", 2),
        ("2 Methods", 1),
        ("3. Results", 1),
        ("3. Effects of drying", 1),
        ("4.2.1 Effect of pH", 3),
        ("2.1 pH control", 2),
        ("MATERIALS AND METHODS", 1),
        ("Abstract", 1),
        ("Results and discussion", 1),
        ("IV. DISCUSSION", 1),
        ("Appendix A", 1),
        ("Enzymatic Hydrolysis of Corn Stover", 2),
    ],
)
def test_a_heading_has_its_level(line: str, level: int) -> None:
    assert heading_level(line) == level


@pytest.mark.parametrize(
    "line",
    [
        "12 tons were collected",
        "3. Dry the sample at 105 C",
        "2023 was a wet year",
        "1. Add 5 ml of buffer and mix",
        "2. The samples were stored overnight.",
        "5 mg of yeast",
        "2.5 kg per hour",
        "10.5 Mg",
        "Corn stover 12.5 13.6 14.1",
        "Glucan | 38.2 | 36.1",
        "The Sample Was Dried",
        "John Smith, Mary Jones",
        "N P K",
        "",
        "Dry matter content",
        "A" * 400,
    ],
)
def test_a_sentence_a_step_or_a_table_row_is_no_heading(line: str) -> None:
    assert heading_level(line) is None
