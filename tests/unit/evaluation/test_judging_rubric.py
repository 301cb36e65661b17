"""Which replies of a judge are grades, and which are failures with a name."""

import json

import pytest

from evaluation.judging.rubric import GROUNDING, Grades, MalformedReply, read

GOOD = {"groundedness": 2, "citation_accuracy": 1, "completeness": 0}


def reply(**values: object) -> str:
    return json.dumps(GOOD | values)


def test_whole_numbers_of_the_rubric_are_taken_as_they_are() -> None:
    assert read(reply(), GROUNDING) == Grades(GOOD, ())


@pytest.mark.parametrize(("given", "meant"), [(5, 2), (-1, 0), (10**40, 2)])
def test_a_whole_number_outside_the_rubric_is_clamped_and_marked(given: int, meant: int) -> None:
    found = read(reply(groundedness=given), GROUNDING)

    assert (found.grades["groundedness"], found.clamped) == (meant, ("groundedness",))


@pytest.mark.parametrize("value", [1.6, 1.0, True, False, "2", None, [], {}, float("nan"), float("inf")])
def test_what_is_no_whole_number_is_a_failure(value: object) -> None:
    with pytest.raises(MalformedReply, match="not_a_whole_number"):
        read(reply(completeness=value), GROUNDING)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ('{"groundedness": 2, "citation_accuracy": 1}', "missing"),
        ("{}", "missing"),
        (f"Here is my grade: {reply()}", "not_json"),
        (f"{reply()} I hope that helps.", "not_json"),
        (f"```json\n{reply()}\n```", "not_json"),
        (f"{reply()}{reply()}", "not_json"),
        (reply()[:-1], "not_json"),
        ("[" * 5000, "not_json"),
        (f"[{reply()}]", "wrong_form"),
        ("2", "wrong_form"),
        (reply(confidence=1), "wrong_form"),
        (reply()[:-1] + ', "groundedness": 0}', "wrong_form"),
        (reply() + " " * 10_000, "too_long"),
    ],
)
def test_whatever_is_not_exactly_the_json_asked_for_is_a_failure_with_a_name(text: str, code: str) -> None:
    with pytest.raises(MalformedReply) as failure:
        read(text, GROUNDING)

    assert failure.value.code == code
