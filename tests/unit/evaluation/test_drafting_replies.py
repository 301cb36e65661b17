"""Of which replies a draft is made: only of those whose evidence stands in the passage word by word."""

import json
from typing import Any

import pytest

from evaluation.drafting.replies import Dropped, read

PASSAGE = "Bales left in the open lost 18.6 % of their dry matter within six months."
GOOD: dict[str, Any] = {
    "question": "How much dry matter do uncovered bales lose in half a year?",
    "reference_answer": "18.6 %.",
    "evidence_phrase": "lost 18.6 % of their dry matter",
    "kind": "lookup",
}


def test_a_reply_whose_phrase_stands_in_the_passage_is_a_proposal() -> None:
    found = read(json.dumps(GOOD), PASSAGE)

    assert (found.phrase, found.kind) == ("lost 18.6 % of their dry matter", "lookup")


@pytest.mark.parametrize(
    "phrase",
    [
        "lost 18.6% of their dry matter",
        "lost 18.6 % of its dry matter",
        "Lost 18.6 %",
        "lost 18.6 %  of their",
    ],
)
def test_a_phrase_that_is_not_verbatim_is_dropped(phrase: str) -> None:
    with pytest.raises(Dropped, match="not_verbatim"):
        read(json.dumps(GOOD | {"evidence_phrase": phrase}), PASSAGE)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("", "not_json"),
        (f"Here: {json.dumps(GOOD)}", "not_json"),
        (f"```json\n{json.dumps(GOOD)}\n```", "not_json"),
        ("[]", "wrong_form"),
        (json.dumps(GOOD | {"question": 5}), "wrong_form"),
        (json.dumps(GOOD | {"question": "Why?"}), "wrong_form"),
        (json.dumps(GOOD | {"kind": "riddle"}), "wrong_form"),
        (json.dumps(GOOD | {"score": 2}), "wrong_form"),
        (
            json.dumps({name: value for name, value in GOOD.items() if name != "evidence_phrase"}),
            "wrong_form",
        ),
        (json.dumps(GOOD | {"question": "What of\u0000bales in the open?"}), "wrong_form"),
        (json.dumps(GOOD | {"evidence_phrase": "18"}), "phrase_too_short"),
        (json.dumps(GOOD) + " " * 20_000, "too_long"),
    ],
)
def test_every_other_reply_is_dropped_with_a_reason(reply: str, code: str) -> None:
    with pytest.raises(Dropped) as dropped:
        read(reply, PASSAGE)

    assert dropped.value.code == code
