"""Seed questions: what they are, reading them with every mistake named by its line, and writing them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from corpus.identifiers import normalise_doi
from retrieval.request import MAX_QUESTION

MAX_BYTES = 20_000_000
# What a signature is given to: everything that decides what counts as right.
_SIGNED_FIELDS = (
    "id", "question", "reference_answer", "reference_documents", "reference_titles", "evidence_phrases",
    "tags", "kind", "split", "unanswerable",
)  # fmt: skip
_Sha256 = r"^[0-9a-f]{64}$"


class Form(StrEnum):
    """How a file of questions is written."""

    JSONL = "jsonl"
    YAML = "yaml"


class Pointer(BaseModel):
    """Where an evidence phrase stood, by what survives a re-ingest: hashes, the DOI, the place in words."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    phrase: str = Field(min_length=1)
    document_sha256: str = Field(pattern=_Sha256)
    doi: str = ""
    passage_sha256: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    locator: str = Field(default="", max_length=200)


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
    pointers: tuple[Pointer, ...] = ()
    tags: tuple[Annotated[str, Field(min_length=1, max_length=80)], ...] = ()
    kind: Literal["", "lookup", "comparison", "causal", "overview"] = ""
    split: Literal["", "train", "test"] = ""
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
        texts = (self.question, self.reference_answer, self.author, self.signed_by or "")
        if "\0" in "".join((*texts, *self.reference_titles, *self.evidence_phrases, *self.tags)):
            raise ValueError("a zero byte stands in it")
        evidence = (*self.reference_documents, *self.reference_titles, *self.evidence_phrases)
        if self.unanswerable and evidence:
            raise ValueError("an unanswerable question names no documents and no evidence")
        if not self.unanswerable and not evidence:
            raise ValueError("name a reference document, a title or an evidence phrase, or say unanswerable")
        if (self.signed_by is None) != (self.signed_at is None):
            raise ValueError("signed_by and signed_at go together")
        if self.drafted == (self.signed_by is not None):
            raise ValueError("a question is drafted until it is signed, and not after")
        if strange := {pointer.phrase for pointer in self.pointers} - set(self.evidence_phrases):
            raise ValueError(f"pointers: '{min(strange)}' is none of the evidence phrases")
        return self

    def content_sha256(self) -> str:
        """Return the hash of what is signed: the same words, evidence and tags have the same."""
        content = self.model_dump(mode="json", include=set(_SIGNED_FIELDS))
        return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def questions_sha256(contents: Iterable[tuple[str, str]]) -> str:
    """Return the hash of a set of questions from the key and content hash of each, in whatever order."""
    return hashlib.sha256("\n".join(f"{key} {sha}" for key, sha in sorted(contents)).encode()).hexdigest()


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
    """Return the questions of a JSONL or YAML file in order.

    In JSONL, lines that are empty or start with `#` are skipped; a YAML file (`.yaml`, `.yml`, `.json`) holds
    one list. Raises `QuestionFileError` with every mistake of the file, not only the first.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise QuestionFileError(path, (Problem(1, f"larger than {MAX_BYTES // 1_000_000} MB"),))
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise QuestionFileError(path, (Problem(1, "not UTF-8 text"),)) from None
    except OSError as error:
        raise QuestionFileError(path, (Problem(1, f"cannot be read: {error.strerror}"),)) from None
    is_yaml = path.suffix.lower() in {".yaml", ".yml", ".json"}
    return parse_questions(text, path, form=Form.YAML if is_yaml else Form.JSONL)


def parse_questions(text: str, path: Path, *, form: Form) -> tuple[SeedQuestion, ...]:
    """Return the questions of a file's text; `path` only names it. Raises `QuestionFileError`."""
    return tuple(question for _, question in numbered_questions(text, path, form=form))


def numbered_questions(text: str, path: Path, *, form: Form) -> tuple[tuple[int, SeedQuestion], ...]:
    """Return the questions of a file's text with the line each stands on. Raises `QuestionFileError`."""
    questions: list[tuple[int, SeedQuestion]] = []
    problems: list[Problem] = []
    first_line: dict[str, int] = {}
    for number, row in _yaml_rows(text) if form == Form.YAML else _jsonl_rows(text):
        try:
            question = _question(row)
        except ValueError as error:
            problems.extend(Problem(number, message) for message in _messages(error))
            continue
        if question.id in first_line:
            message = f"the id '{question.id}' stands on line {first_line[question.id]} already"
            problems.append(Problem(number, message))
        first_line.setdefault(question.id, number)
        questions.append((number, question))
    if problems:
        raise QuestionFileError(path, tuple(problems))
    return tuple(questions)


def write_questions(questions: Iterable[SeedQuestion], *, form: Form) -> str:
    """Return the text of a file that `read_questions` reads back as the same questions."""
    rows = [question.model_dump(mode="json") for question in questions]
    if form == Form.JSONL:
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return yaml.safe_dump(rows, allow_unicode=True, sort_keys=False, width=110)


def _jsonl_rows(text: str) -> Iterator[tuple[int, object]]:
    # Not `splitlines`: what else it takes for the end of a line may stand within a text.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            yield number, json.loads(line)
        except RecursionError:
            yield number, ValueError("nested too deeply")
        except ValueError as error:
            yield number, error


def _yaml_rows(text: str) -> Iterator[tuple[int, object]]:
    try:
        root = _yaml_root(text)
    except _BadYaml as error:
        yield error.line, ValueError(str(error))
        return
    for node in root:
        try:
            value: Any = yaml.SafeLoader("").construct_object(node, deep=True)
        except (yaml.YAMLError, ValueError) as error:
            value = ValueError(getattr(error, "problem", None) or str(error))
        yield node.start_mark.line + 1, value


class _BadYaml(ValueError):
    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def _yaml_root(text: str) -> list[yaml.Node]:
    """Return the entries of the one list in `text`. An alias could make a small file a huge one."""
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.AliasEvent):
                mark = event.start_mark
                raise _BadYaml("aliases are not allowed", mark.line + 1 if mark else 1)
        root = yaml.compose(text, Loader=yaml.CSafeLoader)
    except RecursionError:
        raise _BadYaml("nested too deeply", 1) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "cannot be read"
        raise _BadYaml(f"not YAML: {problem}", mark.line + 1 if mark else 1) from None
    if root is None:
        return []
    if not isinstance(root, yaml.SequenceNode):
        raise _BadYaml("the file is a list of questions", 1)
    return list(root.value)


def _question(row: object) -> SeedQuestion:
    if isinstance(row, ValueError):
        raise row
    if not isinstance(row, dict):
        raise ValueError("not an object with a question's fields")  # noqa: TRY004 -- one kind of error for one kind of mistake
    return SeedQuestion.model_validate(row)


def _messages(error: ValueError) -> list[str]:
    if isinstance(error, json.JSONDecodeError):
        return [f"not JSON: {error.msg} at column {error.colno}"]
    if isinstance(error, ValidationError):
        return [_message(item["loc"], item["msg"]) for item in error.errors()]
    return [str(error)]


def _message(location: tuple[int | str, ...], message: str) -> str:
    text = message.removeprefix("Value error, ")
    return f"{'.'.join(map(str, location))}: {text}" if location else text
