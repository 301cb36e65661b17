"""Passages side by side."""

from hypothesis import given
from hypothesis import strategies as st

from corpus.passages import SHORTEST_OVERLAP, joined, overlap

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
