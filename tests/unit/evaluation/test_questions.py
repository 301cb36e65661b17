"""Seed questions are read whole or refused with every mistake named."""

import json
from pathlib import Path

import pytest

from evaluation.questions import (
    Form,
    QuestionFileError,
    SeedQuestion,
    questions_sha256,
    read_questions,
    write_questions,
)

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
    assert problems[1].endswith("not an object with a question's fields")
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


@pytest.mark.parametrize("text", ["\0", "\ud800"])
def test_what_no_database_stores_is_a_mistake(tmp_path: Path, text: str) -> None:
    (problem,) = problems_of(write(tmp_path / "q.jsonl", {**QUESTION, "reference_answer": f"4.5 {text}m"}))

    assert "zero byte" in problem or "unicode" in problem


def test_yaml_and_json_lists_read_as_jsonl_does(tmp_path: Path) -> None:
    seeds = read_questions(
        write(tmp_path / "q.jsonl", QUESTION, {**QUESTION, "id": "other", "kind": "lookup"})
    )

    for name, form in (("q.yaml", Form.YAML), ("q.jsonl", Form.JSONL)):
        path = tmp_path / name
        path.write_text(write_questions(seeds, form=form))
        assert read_questions(path) == seeds
    as_json = tmp_path / "q.json"
    as_json.write_text(json.dumps([seed.model_dump(mode="json") for seed in seeds], indent=2))
    assert read_questions(as_json) == seeds


def test_mistakes_in_yaml_are_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "q.yaml"
    path.write_text(
        "# questions\n- id: good-one\n  question: Why?\n  reference_answer: So.\n  unanswerable: true\n"
        "- just a word\n- id: Bad One\n  question: Why?\n  reference_answer: So.\n  unanswerable: true\n"
        "- {id: good-one, question: Why?, reference_answer: So., unanswerable: true}\n"
        "- !!python/name:os.system {}\n"
    )

    problems = problems_of(path)

    assert [problem.split(":")[0] for problem in problems] == [f"line {n}" for n in (6, 7, 11, 12)]
    assert "stands on line 2 already" in problems[2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- &a {id: x}\n- *a\n", "line 2: aliases are not allowed"),
        ("id: x\n", "line 1: the file is a list of questions"),
        ("- id: [\n", "line 2: not YAML"),
        ("- " * 50_000, "line 1: "),
    ],
)
def test_yaml_that_is_no_list_of_questions_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "q.yml"
    path.write_text(text)

    assert problems_of(path)[0].startswith(said)


def test_a_file_that_cannot_be_read_is_a_mistake_of_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes(b"\xff\xfe")

    assert problems_of(path) == ["line 1: not UTF-8 text"]
    assert problems_of(tmp_path / "absent.jsonl")[0].startswith("line 1: cannot be read")


def test_a_pointer_names_one_of_the_phrases(tmp_path: Path) -> None:
    pointer = {"phrase": "something else", "document_sha256": "a" * 64}

    (problem,) = problems_of(write(tmp_path / "q.jsonl", {**QUESTION, "pointers": [pointer]}))

    assert "is none of the evidence phrases" in problem


@pytest.mark.parametrize(
    ("change", "is_other"),
    [
        ({"question": "How high may it be?"}, True),
        ({"evidence_phrases": ["shall not exceed 6 m"]}, True),
        ({"tags": []}, True),
        ({"split": "test"}, True),
        ({"author": "Ada"}, False),
        ({"pointers": [{"phrase": "shall not exceed 4.5 m", "document_sha256": "a" * 64}]}, False),
        ({"drafted": False, "signed_by": "Ada", "signed_at": "2026-01-01T00:00:00Z"}, False),
    ],
)
def test_the_content_hash_changes_with_what_is_signed(change: dict[str, object], is_other: bool) -> None:
    before, after = SeedQuestion.model_validate(QUESTION), SeedQuestion.model_validate({**QUESTION, **change})

    assert (before.content_sha256() != after.content_sha256()) is is_other


def test_the_hash_of_a_set_does_not_depend_on_its_order() -> None:
    contents = [("a", "1"), ("b", "2")]

    assert questions_sha256(contents) == questions_sha256(reversed(contents))
    assert questions_sha256(contents) != questions_sha256([("a", "2"), ("b", "1")])
