"""Labels as JSONL: what is exported can be imported again. It repeats no words of questions and answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StrictBool, ValidationError, model_validator

from evaluation.calibration.models import CalibrationLabel, CalibrationQueue
from evaluation.judging.rubric import BEST, DIMENSIONS, WORST
from evaluation.questions import Problem

MAX_BYTES = 20_000_000
Grade = Annotated[int, Field(strict=True, ge=WORST, le=BEST)]


class LabelLine(BaseModel):
    """One label: of which answer, by whom, and the grades of all dimensions or why there are none."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    question: str = Field(min_length=1, max_length=80)
    answer_sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    labeller: str = Field(min_length=1, max_length=150)
    expert: StrictBool
    adjudication: StrictBool = False
    groundedness: Grade | None = None
    citation_accuracy: Grade | None = None
    completeness: Grade | None = None
    correctness: Grade | None = None
    skipped: str = Field(default="", max_length=300)
    at: AwareDatetime

    @model_validator(mode="after")
    def _whole(self) -> Self:
        given = [getattr(self, name) for name in DIMENSIONS]
        if "\0" in self.labeller + self.skipped + self.question:
            raise ValueError("a zero byte stands in it")
        if self.skipped and any(grade is not None for grade in given):
            raise ValueError("what is skipped has no grades")
        if not self.skipped and None in given:
            raise ValueError("give every dimension a grade of 0, 1 or 2, or say in skipped why there is none")
        return self


@dataclass(frozen=True, slots=True)
class Line:
    """A label with the number of its line."""

    number: int
    label: LabelLine


class LabelFileError(ValueError):
    """A file of labels with mistakes; all of them are listed with their lines."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(str(problem) for problem in problems))
        self.problems = problems


def read(text: str) -> list[Line]:
    """Return the labels of a file in order; empty lines and those that start with `#` are skipped.

    Raises `LabelFileError` with every mistake.
    """
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise LabelFileError((Problem(1, f"larger than {MAX_BYTES // 1_000_000} MB"),))
    lines: list[Line] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            lines.append(Line(number, LabelLine.model_validate_json(line)))
        except ValidationError as error:
            problems += [Problem(number, _message(each)) for each in error.errors()]
    problems += _twice(lines)
    if problems:
        raise LabelFileError(tuple(sorted(problems, key=lambda problem: problem.line)))
    return lines


def written(queue: CalibrationQueue) -> str:
    """Return the labels of a sample as a file, the same each time."""
    labels = CalibrationLabel.objects.filter(item__queue=queue).select_related("item__outcome__question")
    rows = labels.order_by("item__number", "labeller_name", "pk")
    head = f"# Labels of run {queue.run_id}, drawn with seed {queue.seed}\n"
    return head + "".join(f"{json.dumps(_row(row), ensure_ascii=False)}\n" for row in rows)


def _row(row: CalibrationLabel) -> dict[str, Any]:
    outcome = row.item.outcome
    return {
        "question": outcome.question.key,
        "answer_sha256": outcome.answer_sha256,
        "labeller": row.labeller_name,
        "expert": row.is_expert,
        "adjudication": row.is_adjudication,
        **{name: getattr(row, name) for name in DIMENSIONS},
        "skipped": row.skipped,
        "at": _instant(row.changed_at or row.at),
    }


def _instant(at: datetime) -> str:
    return at.isoformat()


def _message(error: Any) -> str:
    place = ".".join(map(str, error["loc"]))
    text = str(error["msg"]).removeprefix("Value error, ")
    return f"{place}: {text}" if place else text


def _twice(lines: list[Line]) -> list[Problem]:
    seen: dict[tuple[str, str, str], int] = {}
    problems = []
    for line in lines:
        key = (line.label.question, line.label.answer_sha256, line.label.labeller)
        if key in seen:
            problems.append(
                Problem(
                    line.number, f"{line.label.labeller} labelled this answer in line {seen[key]} already"
                )
            )
        seen.setdefault(key, line.number)
    return problems
