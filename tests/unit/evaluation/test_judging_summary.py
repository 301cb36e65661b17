"""The numbers of a run of answers: what was submitted is what is divided by."""

from typing import Any

from evaluation.judging import summary
from evaluation.judging.summary import Judged, abstention

ALL = {"groundedness": 2, "citation_accuracy": 1, "completeness": 1, "correctness": 2}


def of(rows: list[Judged]) -> dict[str, Any]:
    return summary.of(rows, configuration={"name": "answers", "refusal": ""})


def judged(key: str = "q", **values: Any) -> Judged:
    fields: dict[str, Any] = {"tags": (), "unanswerable": False, "abstained": False, "grades": ALL}
    return Judged(key=key, **(fields | values))


def test_a_failed_reply_stays_in_the_denominator_and_is_listed() -> None:
    broken = judged("b", grades={"correctness": 2}, failures={"grounding": "not_json"})

    found = of([judged("a"), broken])

    grounded = found["dimensions"]["groundedness"]
    assert (grounded["submitted"], grounded["judged"], grounded["failed"]) == (2, 1, 1)
    assert (grounded["mean"], grounded["mean_of_judged"]) == (1.0, 2.0)
    assert found["dimensions"]["correctness"]["mean"] == 2.0
    assert found["failures"] == [{"question": "b", "of": "grounding", "code": "not_json"}]


def test_a_question_without_an_answer_counts_as_nothing_and_is_listed_once() -> None:
    lost = judged("b", grades={}, error="model_failed", abstained=None, failures={"grounding": "no_answer"})

    found = of([judged("a"), lost])

    assert (found["submitted"], found["answered"]) == (2, 1)
    assert found["dimensions"]["correctness"]["mean"] == 1.0
    assert found["failures"] == [{"question": "b", "of": "answer", "code": "model_failed"}]


def test_clamped_grades_are_counted() -> None:
    assert of([judged(clamped=("completeness",))])["dimensions"]["completeness"]["clamped"] == 1


def test_refusals_have_precision_and_recall() -> None:
    rows = [
        judged(unanswerable=True, abstained=True),
        judged(unanswerable=True, abstained=False),
        judged(unanswerable=True, abstained=None, error="timeout"),
        judged(abstained=True),
        judged(),
    ]

    found = abstention(rows)

    assert (found["precision"], found["recall"]) == (1 / 2, 1 / 3)


def test_what_cannot_be_said_is_a_word() -> None:
    found = of([])

    assert found["dimensions"]["groundedness"]["mean"] == "undefined"
    assert (found["abstention"]["precision"], found["abstention"]["recall"]) == ("undefined", "undefined")
    assert found["prompt_tokens_median"] == "undefined"


def test_tags_have_their_own_means() -> None:
    rows = [judged("a", tags=("table", "pdf")), judged("b", tags=("pdf",), grades={})]

    (found,) = of(rows)["configurations"]

    assert found["tags"]["pdf"] == {
        "questions": 2,
        "answer": {name: value / 2 for name, value in ALL.items()},
    }
    assert found["tags"]["table"]["questions"] == 1
    assert found["levels"]["answer"]["correctness"] == {"mean": 1.0, "interval": "too few questions"}
