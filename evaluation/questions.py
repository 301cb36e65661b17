"""Seed questions: what they are, and reading them from JSONL with every mistake named by its line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from corpus.identifiers import normalise_doi
from retrieval.request import MAX_QUESTION


class SeedQuestion(BaseModel):
    """One question with the answer an expert expects and the evidence for it.

    `drafted` stays true until somebody signs the question: what nobody has reviewed is counted apart.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    id: str = Field(min_length=1, max_length=80, pattern=r"^[a-z0-9][a-z0-9._-]*$")
    question: str = Field(min_length=1, max_length=MAX_QUESTION)
    reference_answer: str = Field(min_length=1)
    reference_documents: tuple[str, ...] = ()
    reference_titles: tuple[str, ...] = ()
    evidence_phrases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    unanswerable: bool = False
    drafted: bool = True
    author: str = ""
    signed_by: str | None = None
    signed_at: datetime | None = None

    @field_validator("reference_documents")
    @classmethod
    def _dois(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        normalised = []
        for value in values:
            doi = normalise_doi(value)
            if doi is None:
                raise ValueError(f"'{value}' is not a DOI; name a document without one in reference_titles")
            normalised.append(doi)
        return tuple(normalised)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        evidence = (*self.reference_documents, *self.reference_titles, *self.evidence_phrases)
        if self.unanswerable and evidence:
            raise ValueError("an unanswerable question names no documents and no evidence")
        if not self.unanswerable and not evidence:
            raise ValueError("name a reference document, a title or an evidence phrase, or say unanswerable")
        if (self.signed_by is None) != (self.signed_at is None):
            raise ValueError("signed_by and signed_at go together")
        if self.drafted == (self.signed_by is not None):
            raise ValueError("a question is drafted until it is signed, and not after")
        return self


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a file of questions."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


class QuestionFileError(ValueError):
    """A file of questions with mistakes; all of them are listed."""

    def __init__(self, path: Path, problems: tuple[Problem, ...]) -> None:
        super().__init__(f"{path.name}: " + "; ".join(str(problem) for problem in problems))
        self.problems = problems


def read_questions(path: Path) -> tuple[SeedQuestion, ...]:
    """Return the questions of a JSONL file in order; lines that are empty or start with `#` are skipped.

    Raises `QuestionFileError` with every mistake of the file, not only the first.
    """
    questions: list[SeedQuestion] = []
    problems: list[Problem] = []
    first_line: dict[str, int] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            question = _parse(line)
        except ValueError as error:
            problems.extend(Problem(number, message) for message in _messages(error))
            continue
        if question.id in first_line:
            message = f"the id '{question.id}' stands on line {first_line[question.id]} already"
            problems.append(Problem(number, message))
        first_line.setdefault(question.id, number)
        questions.append(question)
    if problems:
        raise QuestionFileError(path, tuple(problems))
    return tuple(questions)


def _parse(line: str) -> SeedQuestion:
    try:
        value = json.loads(line)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 -- one kind of error for one kind of mistake
    return SeedQuestion.model_validate(value)


def _messages(error: ValueError) -> list[str]:
    if isinstance(error, json.JSONDecodeError):
        return [f"not JSON: {error.msg} at column {error.colno}"]
    if isinstance(error, ValidationError):
        return [_message(item["loc"], item["msg"]) for item in error.errors()]
    return [str(error)]


def _message(location: tuple[int | str, ...], message: str) -> str:
    text = message.removeprefix("Value error, ")
    return f"{'.'.join(map(str, location))}: {text}" if location else text
