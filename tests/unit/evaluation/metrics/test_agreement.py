"""Kappa agrees with scikit-learn where that gives a number, and is a word where there is none."""

import random

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from evaluation.metrics.agreement import Weights, agreement, confusion, kappa, landis_koch
from evaluation.metrics.significance import Interval

GRADES = (0, 1, 2)
LEARN = {Weights.NONE: None, Weights.LINEAR: "linear", Weights.QUADRATIC: "quadratic"}


def digits(text: str) -> list[int]:
    return [int(char) for char in text]


@pytest.mark.parametrize("weights", Weights)
def test_kappa_of_random_raters_is_scikit_learn_s(weights: Weights) -> None:
    chance = random.Random(3)  # noqa: S311 - repeatable
    for _ in range(300):
        size = chance.randint(4, 60)
        first = [chance.choice(GRADES) for _ in range(size)]
        second = [one if chance.random() < 0.6 else chance.choice(GRADES) for one in first]
        if len(set(first)) < 2 or len(set(second)) < 2:
            continue

        ours = kappa(confusion(first, second, grades=GRADES), weights)

        theirs = cohen_kappa_score(first, second, labels=list(GRADES), weights=LEARN[weights])
        assert ours == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize(
    ("first", "second", "exact", "plain", "quadratic"),
    [
        ("1110001011", "1100011011", 0.8, 0.5833, 0.5833),
        ("2210210212", "2110220202", 0.7, 0.5238, 0.7826),
    ],
)
def test_the_fixed_checks_hold(first: str, second: str, exact: float, plain: float, quadratic: float) -> None:
    found = agreement(digits(first), digits(second), grades=GRADES)

    assert (found.exact, found.kappa, found.quadratic) == pytest.approx((exact, plain, quadratic), abs=5e-5)


@pytest.mark.parametrize(
    ("first", "second"), [("1111", "1111"), ("1111", "1212"), ("1212", "2222"), ("", "")]
)
def test_a_rater_who_gives_one_grade_only_makes_it_undefined_and_never_a_number(
    first: str, second: str
) -> None:
    found = agreement(digits(first), digits(second), grades=GRADES)

    said = found.as_dict()
    assert [said[name] for name in ("kappa", "kappa_quadratic", "interval", "word")] == ["undefined"] * 4


def test_perfect_agreement_of_raters_who_differ_among_items_is_one() -> None:
    found = agreement([0, 1, 2] * 20, [0, 1, 2] * 20, grades=GRADES)

    assert (found.exact, found.kappa, found.quadratic, found.interval) == (1.0, 1.0, 1.0, Interval(1.0, 1.0))
    assert (found.word, found.matrix) == ("almost perfect", ((20, 0, 0), (0, 20, 0), (0, 0, 20)))


@pytest.mark.parametrize(("count", "word"), [(29, "almost perfect, unstable"), (30, "almost perfect")])
def test_fewer_than_thirty_labels_are_unstable(count: int, word: str) -> None:
    labels = [number % 3 for number in range(count)]

    assert agreement(labels, labels, grades=GRADES).word == word


def test_the_interval_holds_kappa_and_is_the_same_every_time() -> None:
    chance = np.random.default_rng(5)
    first = chance.integers(0, 3, 80).tolist()
    second = [one if number % 4 else 2 - one for number, one in enumerate(first)]

    found = agreement(first, second, grades=GRADES)

    assert found.interval is not None
    assert found.kappa is not None
    assert found.interval.low < found.kappa < found.interval.high
    assert agreement(first, second, grades=GRADES) == found


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (-0.1, "poor"), (0.0, "slight"), (0.2, "slight"), (0.21, "fair"), (0.5, "moderate"),
        (0.61, "substantial"), (0.81, "almost perfect"), (1.0, "almost perfect"),
        (1.0 + 1e-12, "almost perfect"),
    ],
)  # fmt: skip
def test_the_words_are_those_of_landis_and_koch(value: float, word: str) -> None:
    assert landis_koch(value) == word


def test_raters_of_other_items_are_refused() -> None:
    with pytest.raises(ValueError, match="same items"):
        confusion([1], [1, 2], grades=GRADES)
