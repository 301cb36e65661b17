"""What each tool takes, read as strictly as the API reads its requests, and described to clients."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, TypeVar
from uuid import UUID

from pydantic import Field, ValidationError

from corpus.access_requests import LONGEST_WANTED
from corpus.api import hygiene
from corpus.api.problems import of_fields
from corpus.api.requests import Sent
from retrieval.api.asking import QueryAsked

S = TypeVar("S", bound=Sent)


class Nothing(Sent):
    """Takes nothing."""


class SearchInput(QueryAsked):
    """A question and where to look. Retracted works are found with a badge unless they are excluded."""


class AnswerInput(QueryAsked):
    """A question to be answered. Retracted works are left out unless `scope.exclude_retracted` is false."""

    engine: Literal["model", "extractive"] | None = Field(
        default=None, description="Who writes; left out, the language model where there is one."
    )


class DocumentInput(Sent):
    """A document."""

    document_id: UUID = Field(description="As a search gives it.")


class PassageInput(Sent):
    """A passage."""

    passage_id: UUID = Field(description="As a search or a document gives it.")


class EntitySearchInput(Sent):
    """Which entities."""

    q: str | None = Field(default=None, max_length=300, description="Letters of a name.")
    type: str | None = Field(default=None, max_length=60, description="A type of the ontology.")
    document_id: UUID | None = Field(default=None, description="Mentioned in this document.")
    order: Literal["mentions", "name"] = "mentions"
    page: int = Field(default=1, ge=1, le=100_000, description="Sixty to a page, from 1.")


class EntityInput(Sent):
    """An entity, and how much of what is said about it."""

    entity_id: UUID = Field(description="As a search for entities gives it.")
    limit: int = Field(default=25, ge=1, le=100, description="How many relationships, the surest first.")


class WhyInput(Sent):
    """What is missed."""

    wanted: str = Field(
        min_length=1, max_length=LONGEST_WANTED, description="A DOI, a title, or the id of a document."
    )


def read(arguments: Mapping[str, Any] | None, model: type[S]) -> S:
    """Return the arguments of a call as `model`; raise a `Problem` or `UnusableJson` for any other."""
    text = hygiene.checked(json.dumps(arguments or {}).encode())
    try:
        return model.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise of_fields(error) from None
