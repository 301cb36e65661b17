"""The labels the repository ships: in the form that is imported, of questions of the demo, by no expert."""

from pathlib import Path

from evaluation.calibration import files
from evaluation.questions import read_questions

DOMAIN = Path(__file__).resolve().parents[3] / "domain"


def test_the_demo_labels_are_of_the_demo_questions_and_by_no_expert() -> None:
    lines = files.read((DOMAIN / "eval_calibration_labels.jsonl").read_text(encoding="utf-8"))

    keys = {question.id for question in read_questions(DOMAIN / "demo/seed_questions.jsonl")}
    assert {line.label.question for line in lines} == keys
    assert not any(line.label.expert for line in lines)
