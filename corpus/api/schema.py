"""What the OpenAPI description says of each address, from the same models that requests are read with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from pydantic import BaseModel

from corpus.api.problems import MEANING, MEDIA_TYPE, Code
from corpus.api.requests import NoParameters, Sent
from corpus.api.shapes import ProblemTold

F = TypeVar("F", bound=Callable[..., Any])

_REQUEST_ID = OpenApiParameter(
    "X-Request-ID", str, OpenApiParameter.HEADER, response=True, description="The number of this request."
)
_RETRY_AFTER = OpenApiParameter(
    "Retry-After", int, OpenApiParameter.HEADER, response=[429, 503], description="How many seconds to wait."
)
# What any request can meet, and what any request by key can.
_ALWAYS = (Code.MALFORMED_REQUEST, Code.INVALID_REQUEST, Code.INTERNAL_ERROR)
_BY_KEY = (Code.MISSING_KEY, Code.INVALID_KEY, Code.INSUFFICIENT_SCOPE, Code.RATE_LIMITED)


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a key is sent."""

    target_class = "corpus.api.views.KeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        """Describe it."""
        return {"type": "http", "scheme": "bearer", "description": "A key of the site, as it was shown once."}


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one address, as the description has it. `answer` is the body of success."""

    id: str
    summary: str
    answer: type[BaseModel]
    tag: str
    more: str = ""
    body: type[Sent] | Mapping[str, Any] | None = None
    parameters: type[Sent] = NoParameters
    status: int = 200
    codes: tuple[Code, ...] = ()
    is_open: bool = False
    also: Mapping[tuple[int, str], Any] = field(default_factory=dict)


def describes(operation: Operation) -> Callable[[F], F]:
    """Say what a method of a view takes and what it answers."""
    codes = (*operation.codes, *_ALWAYS, *(() if operation.is_open else _BY_KEY))
    if operation.body is not None:
        codes = (*codes, Code.REQUEST_TOO_LARGE)
    responses = {
        (operation.status, "application/json"): operation.answer,
        **operation.also,
        **_problems(codes),
    }
    decorated: Callable[[F], F] = extend_schema(
        operation_id=operation.id,
        summary=operation.summary,
        description=operation.more,
        tags=[operation.tag],
        parameters=[*_parameters(operation.parameters), _REQUEST_ID, _RETRY_AFTER],
        request=operation.body,
        responses=responses,
        auth=[] if operation.is_open else None,
    )
    return decorated


def _problems(codes: tuple[Code, ...]) -> dict[tuple[int, str], Any]:
    of_status: dict[int, list[Code]] = {}
    for code in MEANING:
        if code in codes:
            of_status.setdefault(MEANING[code][0], []).append(code)
    return {
        (status, MEDIA_TYPE): OpenApiResponse(ProblemTold, description=", ".join(f"`{one}`" for one in some))
        for status, some in of_status.items()
    }


def _parameters(model: type[Sent]) -> list[OpenApiParameter]:
    schema = model.model_json_schema()
    known = schema.get("$defs", {})
    return [
        OpenApiParameter(
            name,
            _inlined(described, known),
            OpenApiParameter.QUERY,
            required=name in schema.get("required", ()),
            description=described.get("description", ""),
        )
        for name, described in schema.get("properties", {}).items()
    ]


def _inlined(described: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of one parameter by itself: what may be left out is no null in an address."""
    choices = [one for one in described.get("anyOf", ()) if one.get("type") != "null"]
    merged = {**described, **choices[0]} if choices else dict(described)
    for name in ("anyOf", "title", "description"):
        merged.pop(name, None)
    if merged.get("default", "") is None:
        del merged["default"]
    reference = merged.pop("$ref", "")
    return {**known[reference.rpartition("/")[2]], **merged} if reference else merged
