"""A reply that proposes a question, held against the passage it was made from. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.relevance import SHORTEST_PHRASE, normalise

_LONGEST = 20_000


class Dropped(ValueError):
    """A reply of which no draft is made. `code` says why: `not_json`, `wrong_form`, `not_verbatim`, ..."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=True)

    question: Annotated[str, Field(min_length=10, max_length=500)]
    reference_answer: Annotated[str, Field(min_length=1, max_length=2_000)]
    evidence_phrase: Annotated[str, Field(min_length=1, max_length=1_000)]
    kind: Literal["", "lookup", "comparison", "causal", "overview"] = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A question whose evidence stands in its passage word by word."""

    question: str
    reference_answer: str
    phrase: str
    kind: Literal["", "lookup", "comparison", "causal", "overview"]


def read(reply: str, passage: str) -> Proposal:
    """Return what a reply proposes about `passage`; raise `Dropped`.

    The phrase has to stand in the passage character for character: what a model remembers in its own words
    is no evidence.
    """
    if len(reply) > _LONGEST:
        raise Dropped("too_long")
    try:
        value = json.loads(reply)
    except (ValueError, RecursionError):
        raise Dropped("not_json") from None
    try:
        found = _Reply.model_validate(value)
    except ValidationError:
        raise Dropped("wrong_form") from None
    if "\0" in found.question + found.reference_answer:
        raise Dropped("wrong_form")
    if len(normalise(found.evidence_phrase)) < SHORTEST_PHRASE:
        raise Dropped("phrase_too_short")
    if found.evidence_phrase not in passage:
        raise Dropped("not_verbatim")
    return Proposal(found.question, found.reference_answer, found.evidence_phrase, found.kind)
