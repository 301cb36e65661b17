"""The measures of rankings agree with an IR library that was written by others."""

import random
from typing import Any

import ir_measures
import pytest
from ir_measures import RR, R, Success, nDCG

from evaluation.metrics import ranking

LIBRARY = {
    Success @ 5: "hit@5",
    Success @ 10: "hit@10",
    RR @ 20: "mrr",
    nDCG @ 10: "ndcg@10",
    R @ 20: "recall@20",
}


def by_library(relevant: set[str], ranked: list[str]) -> dict[str, float]:
    # The library sorts by score and breaks ties by name: a rank is a score without ties.
    scores = {name: -float(rank) for rank, name in enumerate(ranked)}
    judged = dict.fromkeys(relevant, 1)
    found: Any = ir_measures.iter_calc(list(LIBRARY), {"q": judged}, {"q": scores})
    return {LIBRARY[metric.measure]: metric.value for metric in found}


def test_a_thousand_random_rankings_are_measured_as_by_the_library() -> None:
    chance = random.Random(8)  # noqa: S311 - repeatable
    for _ in range(1_000):
        corpus = [f"p{number}" for number in range(chance.randint(1, 60))]
        relevant = set(chance.sample(corpus, chance.randint(1, len(corpus))))
        ranked = chance.sample(corpus, chance.randint(1, len(corpus)))

        ours = ranking.measures([name in relevant for name in ranked], len(relevant))

        assert ours == pytest.approx(by_library(relevant, ranked), abs=1e-9)


def test_graded_gains_are_discounted_as_by_the_library() -> None:
    chance = random.Random(9)  # noqa: S311 - repeatable
    for _ in range(300):
        grades = {f"p{number}": chance.randint(0, 3) for number in range(chance.randint(1, 30))}
        ranked = chance.sample(sorted(grades), len(grades))
        scores = {name: -float(rank) for rank, name in enumerate(ranked)}

        ours = ranking.ndcg([grades[name] for name in ranked], list(grades.values()), 10)

        (theirs,) = ir_measures.iter_calc([nDCG @ 10], {"q": grades}, {"q": scores})
        assert ours == pytest.approx(theirs.value, abs=1e-9)


def test_what_was_relevant_and_not_found_counts_as_missed() -> None:
    assert set(ranking.measures([False, False], 2).values()) == {0.0}


def test_what_exists_nowhere_counts_as_missed_and_not_as_left_out() -> None:
    assert set(ranking.measures([False] * 20, 0).values()) == {0.0}


def test_the_mean_of_no_questions_is_not_a_number() -> None:
    assert ranking.means([]) == dict.fromkeys(ranking.NAMES)
