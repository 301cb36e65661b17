"""The compression gate adopts when nothing judged got worse and prompts got shorter, else it says why not."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.compression import telling, verdict
from evaluation.judging.rubric import DIMENSIONS
from evaluation.reports.comparison import Incomparable

QUESTIONS = 8
WHOLE, CONDENSED = [900, 950, 1000, 1050, 1100, 1150, 1200, 1250], [300, 420, 350, 410, 380, 460, 390, 440]


def side(
    *,
    condensed: bool,
    grades: dict[str, list[int]] | None = None,
    tokens: list[Any] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """The report of a run of answers whose grades are all 2 unless `grades` says otherwise."""
    prompts = tokens or (CONDENSED if condensed else WHOLE)
    return {
        "run": "r",
        "kind": "answers",
        "question_set": {"name": "set", "sha256": "a" * 64},
        "judge": "judge",
        "fingerprint": "f" * 64,
        "code_version": "c",
        "conditions": {"answering_model": "writer", "prompts": {"answer": "p"}},
        "parameters": {"engine": "model", "profile": "interactive", "limit": 8, "compressed": condensed},
        "primary": {"level": "answer", "measure": "correctness"},
        "warnings": ["8 of 8 questions are drafts that no expert has signed"],
        "numbers": {
            "configurations": [{"name": "answers", "refusal": ""}],
            "compression": {
                "answers": QUESTIONS if condensed else 0,
                "condensed": 40, "set_aside": 3, "whole": 5,
                "prompt_tokens_taken": 9000, "completion_tokens_taken": 700,
            },
            "changed": 0,
        },
        "questions": [
            {
                "key": f"q{number}",
                "question": f"Question {number}?",
                "results": {
                    "answers": {
                        "measures": {
                            "answer": {
                                name: float((grades or {}).get(name, [2] * len(prompts))[number])
                                for name in DIMENSIONS
                            }
                        },
                        "prompt_tokens": prompt,
                    }
                },
            }
            for number, prompt in enumerate(prompts)
        ],
    } | fields  # fmt: skip


def decided(before: dict[str, Any], after: dict[str, Any]) -> verdict.Verdict:
    return verdict.decide(before, after)


def test_equal_grades_over_shorter_prompts_are_adopted() -> None:
    found = decided(side(condensed=False), side(condensed=True))

    assert found.adopts
    assert found.reasons == ()
    assert found.tokens.as_dict() == {
        "questions": 8, "before": 1075.0, "after": 400.0, "change": -675.0,
        "interval": list(found.tokens.interval or ()), "fell": True,
    }  # fmt: skip
    assert found.numbers()["warnings"] == ["8 of 8 questions are drafts that no expert has signed"]


def test_a_dimension_that_fell_out_of_its_interval_rejects_by_name() -> None:
    worse = {"completeness": [1, 1, 1, 0, 1, 1, 0, 1]}

    found = decided(side(condensed=False), side(condensed=True, grades=worse))

    assert not found.adopts
    (reason,) = found.reasons
    assert reason.startswith("Completeness fell by 1.250, from 2.000 to 0.750 [")
    assert [one.holds for one in found.dimensions] == [one != "completeness" for one in DIMENSIONS]


def test_a_small_loss_that_may_be_chance_does_not_reject() -> None:
    once = {"correctness": [2, 2, 2, 1, 2, 2, 2, 2]}

    assert decided(side(condensed=False), side(condensed=True, grades=once)).adopts


def test_a_gain_out_of_the_interval_does_not_reject() -> None:
    before = side(condensed=False, grades={"correctness": [1] * QUESTIONS})

    assert decided(before, side(condensed=True)).adopts


@pytest.mark.parametrize(
    "tokens", [WHOLE, [one + 40 for one in WHOLE], [880, 990, 980, 1090, 1080, 1190, 1180, 1260]]
)
def test_prompts_that_did_not_get_measurably_shorter_reject(tokens: list[int]) -> None:
    found = decided(side(condensed=False), side(condensed=True, tokens=tokens))

    (reason,) = found.reasons
    assert reason.startswith("Prompts did not get measurably shorter: the median went from 1,075 to ")


def test_prompts_that_nobody_counted_reject() -> None:
    found = decided(side(condensed=False), side(condensed=True, tokens=[None] * QUESTIONS))

    assert found.reasons == (
        "Nobody counted the tokens of the prompts: the model does not say how many it read",
    )
    assert found.tokens.as_dict()["interval"] == "unknown"


def test_too_few_questions_reject_whatever_they_say() -> None:
    few = decided(side(condensed=False, tokens=WHOLE[:5]), side(condensed=True, tokens=CONDENSED[:5]))

    assert not few.adopts
    assert len(few.reasons) == len(DIMENSIONS) + 1
    assert all("too few questions" in reason for reason in few.reasons)
    assert few.numbers()["dimensions"][0]["interval"] == "too few questions"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"fingerprint": "e" * 64}, "the corpus differs"),
        ({"question_set": {"name": "set", "sha256": "b" * 64}}, "the question set differs"),
        ({"judge": "another"}, "the judge differs"),
        ({"code_version": "d"}, "the code differs (c and d)"),
        (
            {"conditions": {"answering_model": "other", "prompts": {"answer": "p"}}},
            "condition answering_model",
        ),
        ({"parameters": {"engine": "model", "profile": "deep", "limit": 8}}, "the profile differs"),
    ],
)
def test_runs_that_differ_in_more_decide_nothing_and_it_is_named(change: dict[str, Any], said: str) -> None:
    with pytest.raises(Incomparable) as refused:
        decided(side(condensed=False), side(condensed=True, **change))

    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [(True, True, "sources before"), (False, False, "sources after"), (True, False, "sources before")],
)
def test_each_side_has_to_have_done_what_it_is_there_for(before: bool, after: bool, what: str) -> None:
    with pytest.raises(Incomparable) as refused:
        decided(side(condensed=before), side(condensed=after))

    assert what in {one.what for one in refused.value.differs}


def test_a_corpus_that_changed_under_way_decides_nothing() -> None:
    moved = side(condensed=True)
    moved["numbers"]["changed"] = 2

    with pytest.raises(Incomparable, match="the corpus differs"):
        decided(side(condensed=False), moved)


def test_what_was_decided_is_told_with_its_reasons_before_the_numbers() -> None:
    found = decided(side(condensed=False), side(condensed=True, tokens=WHOLE))

    text = telling.text(
        {
            "adopted": found.adopts, "reasons": found.reasons, "numbers": found.numbers(),
            "whole": "one", "condensed": "other",
        }
    )  # fmt: skip

    head, _, numbers = text.partition("## ")
    assert "Rejected" in head
    assert "Prompts did not get measurably shorter" in head
    assert "Warning" in head
    assert "| Groundedness | 2.000 | 2.000 | +0.000 | \\[0.000, 0.000\\] | no loss shown |" in numbers
    assert "| 8 | 40 | 3 | 5 | 9,700 |" in numbers
