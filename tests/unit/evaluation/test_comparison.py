"""Two reports compare only when nothing that matters differs; what moved is named question by question."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from evaluation.reports import gate, markdown
from evaluation.reports.comparison import Incomparable, compare
from evaluation.reports.gate import Threshold

VALUES = [1.0, 0.5, 0.0, 0.25, 1.0, 0.75, 0.5]


def report(values: list[float] | None = None, **fields: Any) -> dict[str, Any]:
    """A report with one configuration and one measure."""
    values = VALUES if values is None else values
    mean = sum(values) / len(values)
    return {
        "run": "r",
        "kind": "retrieval",
        "question_set": {"name": "set", "sha256": "a" * 64},
        "judge": "",
        "fingerprint": "f" * 64,
        "primary": {"level": "passage", "measure": "ndcg@10"},
        "numbers": {
            "configurations": [
                {"name": "full_deep", "refusal": "", "levels": {"passage": {"ndcg@10": {"mean": mean}}}}
            ]
        },
        "questions": [
            {
                "key": f"q{number}",
                "question": f"Question {number} | of `many`?",
                "results": {"full_deep": {"measures": {"passage": {"ndcg@10": value}}}},
            }
            for number, value in enumerate(values)
        ],
    } | fields


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"fingerprint": "e" * 64}, "the corpus differs (ffffffffffff and eeeeeeeeeeee)"),
        ({"question_set": {"name": "set", "sha256": "b" * 64}}, "the question set differs"),
        ({"judge": "some-model"}, "the judge differs (none and some-model)"),
        ({"kind": "answers"}, "the kind differs (retrieval and answers)"),
    ],
)
def test_what_differs_is_refused_by_name(change: dict[str, Any], what: str) -> None:
    with pytest.raises(Incomparable) as refused:
        compare(report(), report(**change))

    assert what in str(refused.value)


def test_everything_that_differs_is_named_at_once() -> None:
    with pytest.raises(Incomparable) as refused:
        compare(report(), report(fingerprint="e" * 64, judge="some-model", kind="answers"))

    assert [one.what for one in refused.value.differs] == ["kind", "judge", "corpus"]


def test_another_corpus_may_be_allowed_and_is_noted() -> None:
    found = compare(report(), report(fingerprint="e" * 64), allows_other_corpus=True)

    assert found.notes == ("the corpus differs (ffffffffffff and eeeeeeeeeeee)",)
    assert "Compared although the corpus differs" in markdown.comparison(found)


def test_allowing_another_corpus_allows_nothing_else() -> None:
    with pytest.raises(Incomparable, match="the judge differs"):
        compare(report(), report(fingerprint="e" * 64, judge="x"), allows_other_corpus=True)


def test_equal_reports_differ_by_nothing_with_p_of_one() -> None:
    found = compare(report(), report())

    (measure,) = found.measures
    assert (measure.difference.delta, measure.difference.p) == (0.0, 1.0)
    assert found.moves.unchanged == len(VALUES)


def test_one_question_says_too_few() -> None:
    (measure,) = compare(report([0.5]), report([1.0])).measures

    assert measure.as_dict()["word"] == "too few questions"
    assert measure.as_dict()["p"] == "too few questions"


def test_questions_that_moved_are_listed_where_they_belong() -> None:
    found = compare(report(), report([0.5, 1.0, 0.5, 0.25, 0.0, 0.75, 0.5]))

    moved = {
        name: [one.key for one in getattr(found.moves, name)]
        for name in found.as_dict()["moves"]
        if name != "unchanged"
    }
    assert moved == {"improved": ["q1"], "regressed": ["q0"], "appeared": ["q2"], "disappeared": ["q4"]}
    assert found.moves.unchanged == 3
    text = markdown.comparison(found)
    assert "- `q0` 1.000 → 0.500 Question 0 \\| of \\`many\\`?" in text


def test_a_question_that_failed_has_found_nothing() -> None:
    after = report()
    after["questions"][0]["results"]["full_deep"]["measures"] = {}

    found = compare(report(), after)

    assert [one.key for one in found.moves.disappeared] == ["q0"]
    assert found.measures[0].difference.delta == pytest.approx(-1 / len(VALUES))


def test_a_level_that_does_not_apply_is_left_out_of_its_mean() -> None:
    both = report()
    for question in both["questions"][:2]:
        question["results"]["full_deep"]["measures"]["passage"] = None
        question["results"]["full_deep"]["measures"]["document"] = {"ndcg@10": 1.0}

    found = compare(both, copy.deepcopy(both))

    assert {one.level: one.difference.questions for one in found.measures} == {"document": 2, "passage": 5}
    assert found.moves.unchanged == len(VALUES)


def test_a_configuration_that_was_not_carried_out_is_named() -> None:
    with pytest.raises(Incomparable, match="no_graph was not carried out"):
        compare(report(), report(), configurations=("full_deep", "no_graph"))


def test_the_gate_passes_what_is_no_worse() -> None:
    verdict = gate.judge(
        report(fingerprint="e" * 64), baseline=report(), thresholds=(Threshold("passage", "ndcg@10", 0.5),)
    )

    assert verdict.passes
    assert verdict.comparison is not None


def test_the_gate_names_what_fell_and_by_how_much() -> None:
    verdict = gate.judge(report([0.5, *VALUES[1:]]), baseline=report())

    assert verdict.missed == ("passage ndcg@10 fell from 0.5714 to 0.5000",)
    assert verdict.comparison is not None
    assert [one.key for one in verdict.comparison.moves.regressed] == ["q0"]


def test_the_gate_lets_pass_what_is_within_the_tolerance() -> None:
    assert gate.judge(report([0.5, *VALUES[1:]]), baseline=report(), tolerance=0.1).passes


@pytest.mark.parametrize(
    ("threshold", "said"),
    [
        (Threshold("passage", "ndcg@10", 0.9), "passage ndcg@10 is 0.5714; at least 0.9 is wanted"),
        (Threshold("passage", "hit@5", 0.9), "passage hit@5 is undefined; at least 0.9 is wanted"),
    ],
)
def test_a_threshold_that_is_missed_is_named(threshold: Threshold, said: str) -> None:
    assert gate.judge(report(), baseline=None, thresholds=(threshold,)).missed == (said,)


def test_the_gate_refuses_other_questions_than_the_baseline_s() -> None:
    with pytest.raises(Incomparable, match="question set"):
        gate.judge(report(question_set={"name": "set", "sha256": "b" * 64}), baseline=report())
