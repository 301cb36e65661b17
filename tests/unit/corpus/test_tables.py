from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from corpus.tables import TableView, table_of


def test_a_table_is_read_back_as_caption_header_and_rows() -> None:
    text = "Table 1. Yields.\n\n| Site | Yield |\n| --- | --- |\n| A \\| B | 5.2 |"

    assert table_of(text) == TableView("Table 1. Yields.", (("Site", "Yield"),), (("A | B", "5.2"),))


def test_a_table_without_a_header_has_only_rows() -> None:
    assert table_of("| 1 | 2 |\n| 3 | 4 |") == TableView("", (), (("1", "2"), ("3", "4")))


def test_text_without_bars_is_no_table() -> None:
    assert table_of("5 kg in 2 years") is None


@given(st.text("|-\\: \na", max_size=60))
def test_reading_a_table_never_fails(text: str) -> None:
    table_of(text)
