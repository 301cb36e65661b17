"""Passages side by side."""

from hypothesis import given
from hypothesis import strategies as st

from corpus.passages import SHORTEST_OVERLAP, TableView, joined, overlap, table_of

SHARED = "a sentence that both passages hold."


def test_overlap_is_the_longest_end_that_is_also_a_start() -> None:
    assert overlap(f"First. {SHARED}", f"{SHARED} Last.") == len(SHARED)


def test_a_short_agreement_is_chance() -> None:
    assert overlap("ends in the", "the beginning") == 0


def test_an_empty_passage_shares_nothing() -> None:
    assert overlap("", "text") == overlap("text", "") == 0


@given(st.text("ab ", max_size=80), st.text("ab ", max_size=80))
def test_overlap_agrees_with_the_plain_definition(earlier: str, later: str) -> None:
    reach = min(len(earlier), len(later))
    lengths = [n for n in range(reach + 1) if earlier.endswith(later[:n])]
    longest = max(lengths)

    assert overlap(earlier, later) == (longest if longest >= SHORTEST_OVERLAP else 0)


def test_what_is_shared_stays_with_the_earlier_passage() -> None:
    path = ("Methods",)

    assert joined([f"First. {SHARED}", f"{SHARED} Last."], [path, path]) == [f"First. {SHARED}", "Last."]


def test_the_kept_passage_stays_whole() -> None:
    path = ("Methods",)
    bodies = [f"First. {SHARED}", f"{SHARED} Last."]

    assert joined(bodies, [path, path], keep=1) == ["First.", bodies[1]]


def test_passages_of_different_sections_are_left_alone() -> None:
    bodies = [f"First. {SHARED}", f"{SHARED} Last."]

    assert joined(bodies, [("Methods",), ("Results",)]) == bodies


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
