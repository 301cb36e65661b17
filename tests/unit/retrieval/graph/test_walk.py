"""Which words of a question may name an entity, and the order of what a walk comes by."""

from __future__ import annotations

from uuid import UUID

from retrieval.graph import walk
from retrieval.graph.walk import Reached

A, B, C, D = (UUID(int=number) for number in range(1, 5))


def test_runs_of_words_come_longest_first_in_the_form_names_have() -> None:
    found = walk.grams("What does Anaerobic  Digestion (AD) give?")

    assert "anaerobic digestion" in found
    assert "ad" in found
    assert found.index("anaerobic digestion") < found.index("digestion")


def test_a_word_of_grammar_alone_names_nothing() -> None:
    assert not {"what", "the", "is", "der"} & set(walk.grams("What is the der"))


def test_a_question_of_any_length_has_a_bounded_number_of_runs() -> None:
    assert len(walk.grams("word " * 400 + "(" * 50)) <= walk.MOST_GRAMS
    assert walk.grams("") == walk.grams("?!") == []


def test_words_inside_a_matched_name_are_not_looked_for_as_misspelt() -> None:
    assert walk.uncovered(["corn stover", "stover", "biocharr"], ["corn stover"]) == ["biocharr"]


def test_a_step_goes_along_edges_in_both_directions_and_only_from_the_frontier() -> None:
    start = {A: Reached(0, 1.0)}

    first = walk.step(start, [(B, A, 0.7), (C, D, 1.0)], hops=1)
    second = walk.step(first, [(B, C, 1.0), (A, D, 1.0)], hops=2)

    assert first == {A: Reached(0, 1.0), B: Reached(1, 0.7)}
    assert second == {**first, C: Reached(2, 0.7)}


def test_a_way_is_as_strong_as_its_weakest_edge_and_the_strongest_way_counts() -> None:
    reached = {A: Reached(1, 0.4), B: Reached(1, 1.0)}

    assert walk.step(reached, [(A, C, 1.0), (B, C, 0.7)], hops=2)[C] == Reached(2, 0.7)


def test_the_nearest_passages_come_first_then_those_that_tie_more_together_then_the_stable_key() -> None:
    reached = {A: Reached(0, 1.0), B: Reached(1, 1.0), C: Reached(2, 1.0)}
    mentions = [(10, 5, C), (11, 4, B), (12, 9, B), (12, 9, C), (13, 1, A), (14, 2, B)]

    assert walk.order(reached, mentions, limit=9, by_strength=False) == (13, 12, 14, 11, 10)


def test_passages_about_the_questions_own_words_leave_room_for_those_only_the_walk_finds() -> None:
    reached = {A: Reached(0, 1.0), B: Reached(1, 1.0), C: Reached(2, 1.0)}
    mentions = [*((number, number, A) for number in range(50)), (90, 1, B), (91, 1, C)]

    found = walk.order(reached, mentions, limit=6, by_strength=False)

    assert found == (0, 1, 2, 3, 90, 91)


def test_by_strength_the_strongest_way_comes_before_the_distance() -> None:
    reached = {A: Reached(1, 0.4), B: Reached(2, 1.0)}

    assert walk.order(reached, [(1, 1, A), (2, 2, B)], limit=2, by_strength=True) == (2, 1)
    assert walk.order(reached, [(1, 1, A), (2, 2, B)], limit=2, by_strength=False) == (1, 2)
