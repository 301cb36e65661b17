"""Intervals and p agree with scipy, are the same every time, and are words where nothing can be said."""

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics import significance
from evaluation.metrics.significance import difference


def deltas(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.1, 0.3, count).round(3)


@pytest.mark.parametrize("seed", range(10))
def test_the_bootstrap_interval_is_scipy_s(seed: int) -> None:
    data = deltas(25, seed)

    ours = significance.bootstrap(data)

    theirs = stats.bootstrap(
        (data,), np.mean, n_resamples=significance.RESAMPLES, method="percentile",
        rng=np.random.default_rng(significance.SEED),
    ).confidence_interval  # fmt: skip
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@pytest.mark.parametrize("count", [6, 9, 13])
@pytest.mark.parametrize("seed", range(5))
def test_p_of_few_questions_is_exact_as_scipy_s(count: int, seed: int) -> None:
    data = deltas(count, seed)

    theirs = stats.permutation_test((data,), np.mean, permutation_type="samples", n_resamples=np.inf)

    assert significance.randomisation(data) == pytest.approx(theirs.pvalue, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_p_of_many_questions_is_near_scipy_s(seed: int) -> None:
    data = deltas(40, seed)

    theirs = stats.permutation_test(
        (data,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(1)
    )

    assert significance.randomisation(data) == pytest.approx(theirs.pvalue, abs=0.015)


def test_the_same_numbers_give_the_same_interval_and_p() -> None:
    before, after = deltas(30, 1), deltas(30, 2)

    assert difference(before, after) == difference(before, after)


@pytest.mark.parametrize("count", [6, 40])
def test_equal_runs_differ_by_nothing_with_p_of_one(count: int) -> None:
    found = difference(deltas(count, 1), deltas(count, 1))

    assert (found.delta, found.interval, found.p) == (0.0, significance.Interval(0.0, 0.0), 1.0)
    assert found.word == "no difference shown"


@pytest.mark.parametrize("count", [1, 5])
def test_too_few_questions_are_said_to_be_too_few_and_have_no_p(count: int) -> None:
    found = difference([0.0] * count, [1.0] * count)

    assert found.word == "too few questions"
    assert found.as_dict() | {"questions": 0} == {
        "questions": 0,
        "delta": 1.0,
        "interval": "too few questions",
        "p": "too few questions",
        "word": "too few questions",
    }


def test_no_questions_are_undefined() -> None:
    assert difference([], []).as_dict()["delta"] == "undefined"


def test_p_is_never_zero() -> None:
    assert difference([0.0] * 100, [1.0] * 100).p == pytest.approx(1 / 10_001)


@pytest.mark.parametrize(("sign", "word"), [(1, "better"), (-1, "worse")])
def test_what_is_shown_has_a_direction(sign: int, word: str) -> None:
    assert difference([0.0] * 20, [sign * 0.5] * 20).word == word


def test_other_questions_on_one_side_are_refused() -> None:
    with pytest.raises(ValueError, match="same questions"):
        difference([1.0], [1.0, 1.0])


@pytest.mark.parametrize("seed", range(5))
def test_the_interval_of_a_change_of_medians_is_scipy_s(seed: int) -> None:
    before, fall = np.random.default_rng(seed).normal(1000, 200, 25), deltas(25, seed) * 400

    change, ours = significance.change_of_medians(before, before - fall)

    theirs = stats.bootstrap(
        (before, before - fall), lambda one, other, axis: np.median(other, axis) - np.median(one, axis),
        paired=True, vectorized=True, n_resamples=significance.RESAMPLES, method="percentile",
        rng=np.random.default_rng(significance.SEED),
    ).confidence_interval  # fmt: skip
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    assert change == pytest.approx(np.median(before - fall) - np.median(before))


def test_a_change_of_medians_of_too_few_questions_has_no_interval() -> None:
    assert significance.change_of_medians([9.0] * 5, [1.0] * 5) == (-8.0, None)
