"""Seed questions are read whole or refused with every mistake named."""

import json
from pathlib import Path

import pytest

from evaluation.questions import QuestionFileError, SeedQuestion, read_questions

QUESTION = {
    "id": "stack-height",
    "question": "How high may a stack be?",
    "reference_answer": "4.5 m.",
    "reference_documents": ["https://doi.org/10.5555/DEMO.1."],
    "evidence_phrases": ["shall not exceed 4.5 m"],
    "tags": ["numeric"],
}


def write(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return path


def problems_of(path: Path) -> list[str]:
    with pytest.raises(QuestionFileError) as refused:
        read_questions(path)
    return [str(problem) for problem in refused.value.problems]


def test_comments_and_empty_lines_are_skipped(tmp_path: Path) -> None:
    path = write(tmp_path / "q.jsonl", "# a comment", "", QUESTION)

    (question,) = read_questions(path)

    assert question.id == "stack-height"


def test_a_doi_is_kept_in_its_normal_form(tmp_path: Path) -> None:
    (question,) = read_questions(write(tmp_path / "q.jsonl", QUESTION))

    assert question.reference_documents == ("10.5555/demo.1",)


def test_a_question_is_drafted_unless_it_says_who_signed_it() -> None:
    assert SeedQuestion.model_validate(QUESTION).drafted is True


def test_every_mistake_is_reported_with_its_line(tmp_path: Path) -> None:
    path = write(
        tmp_path / "q.jsonl",
        "# header",
        "{not json",
        [1, 2],
        {**QUESTION, "question": ""},
        {**QUESTION, "reference_documents": ["a book"]},
        {**QUESTION, "colour": "green"},
        QUESTION,
        QUESTION,
    )

    problems = problems_of(path)

    assert [problem.split(":")[0] for problem in problems] == [f"line {n}" for n in (2, 3, 4, 5, 6, 8)]
    assert "not JSON" in problems[0]
    assert problems[1].endswith("not a JSON object")
    assert "question" in problems[2]
    assert "'a book' is not a DOI" in problems[3]
    assert "colour" in problems[4]
    assert "stands on line 7 already" in problems[5]


def test_deep_nesting_is_a_mistake_and_not_a_crash(tmp_path: Path) -> None:
    path = write(tmp_path / "q.jsonl", "[" * 100_000)

    assert len(problems_of(path)) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"unanswerable": True}, "names no documents"),
        ({"reference_documents": [], "evidence_phrases": []}, "or say unanswerable"),
        ({"signed_by": "Ada"}, "go together"),
        ({"signed_by": "Ada", "signed_at": "2026-01-01T00:00:00Z"}, "until it is signed"),
        ({"drafted": False}, "until it is signed"),
    ],
)
def test_a_question_that_contradicts_itself_is_refused(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    (problem,) = problems_of(write(tmp_path / "q.jsonl", {**QUESTION, **change}))

    assert message in problem
