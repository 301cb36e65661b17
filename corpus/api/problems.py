"""What the API says when it does not do what was asked: RFC 9457, with codes that stay.

The body names neither the request nor the object: what may not be seen answers byte for byte like what is
not there. The number of the request is in the header that every response has.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import structlog
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import BadRequest, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpResponse
from django.http.multipartparser import MultiPartParserError
from pydantic import ValidationError
from rest_framework import exceptions

from corpus.api.hygiene import NotAnObject, TooLarge, UnusableJson
from corpus.audit.recording import denied
from corpus.keys.authentication import KeyRefused, PermissionMissing
from corpus.keys.throttling import RateLimited
from corpus.scope import InvalidScope
from corpus.storage import NoRoom

logger = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
CHALLENGE = 'Bearer realm="sci-rag"'
_MOST_ERRORS, _LONGEST_NAME = 20, 80


class Code(StrEnum):
    """Why something was not done. Programs may rely on these."""

    MISSING_KEY = "missing_key"
    INVALID_KEY = "invalid_key"
    INSUFFICIENT_SCOPE = "insufficient_scope"
    NOT_FOUND = "not_found"
    # Not a code of the specification: HTTP has a status for it, and clients expect that.
    METHOD_NOT_ALLOWED = "method_not_allowed"
    # Nor are these two: what cannot be read at all is another fault than what makes no sense.
    MALFORMED_REQUEST = "malformed_request"
    REQUEST_TOO_LARGE = "request_too_large"
    INVALID_REQUEST = "invalid_request"
    RATE_LIMITED = "rate_limited"
    NO_ROOM = "no_room"
    INTERNAL_ERROR = "internal_error"
    GENERATION_FAILED = "generation_failed"
    LLM_UNAVAILABLE = "llm_unavailable"


# Status and title of each.
MEANING: dict[Code, tuple[int, str]] = {
    Code.MALFORMED_REQUEST: (400, "The request cannot be read"),
    Code.MISSING_KEY: (401, "A key is needed"),
    Code.INVALID_KEY: (401, "The key is not valid"),
    Code.INSUFFICIENT_SCOPE: (403, "The key may not do this"),
    Code.NOT_FOUND: (404, "There is nothing here"),
    Code.METHOD_NOT_ALLOWED: (405, "This address does not take this method"),
    Code.REQUEST_TOO_LARGE: (413, "The request is too large"),
    Code.INVALID_REQUEST: (422, "The request makes no sense"),
    Code.RATE_LIMITED: (429, "The key was used too often"),
    Code.INTERNAL_ERROR: (500, "Something went wrong on our side"),
    Code.GENERATION_FAILED: (502, "The answer could not be written"),
    Code.LLM_UNAVAILABLE: (503, "A model is not available"),
    Code.NO_ROOM: (507, "There is no room left on the disk"),
}
_RECORDED = (Code.INVALID_KEY, Code.INSUFFICIENT_SCOPE)
_DETAIL = {
    Code.MISSING_KEY: "Send a key as 'Authorization: Bearer ...'.",
    Code.INVALID_KEY: "The key is unknown, has expired or was revoked, or its owner's account is closed.",
    Code.NOT_FOUND: "There is no such thing, or the key may not see it.",
}


@dataclass(eq=False)
class Problem(Exception):
    """Raised by a view: the request ends with this problem. `more` are members beside the usual ones."""

    code: Code
    detail: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)


def invalid(message: str, *, where: str = "") -> Problem:
    """Return the problem of a request whose field `where` makes no sense."""
    errors = [{"field": where, "message": message}]
    return Problem(Code.INVALID_REQUEST, message, more={"errors": errors} if where else {})


def of_fields(error: ValidationError) -> Problem:
    """Return the problem of a request that does not have the form it must have, with what is wrong where."""
    found = error.errors(include_url=False, include_context=False, include_input=False)[:_MOST_ERRORS]
    errors = [
        {
            "field": ".".join(str(part)[:_LONGEST_NAME] for part in one["loc"]),
            "message": one["msg"].removeprefix("Value error, "),
        }
        for one in found
    ]
    named = f"{errors[0]['field']}: " if errors[0]["field"] else ""
    return Problem(Code.INVALID_REQUEST, f"{named}{errors[0]['message']}.", more={"errors": errors})


def handled(error: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """Answer for an exception of a view. Whatever it is, it is a problem and nothing is let through."""
    problem = of(error)
    # A cookie opens nothing here: whose session it is says nothing about who asked.
    caller = getattr(context["request"], "_auth", None)
    known = caller is not None and problem is not None and problem.code == Code.NOT_FOUND
    if problem is not None and (known or problem.code in _RECORDED):
        doer = AnonymousUser() if caller is None else caller.user
        denied(context["request"]._request, _why(error, problem), by=doer)
    if problem is None:
        logger.error("api.failed", error=type(error).__name__, exc_info=error)
        # Its type and nothing else: a message may quote what must not be told.
        problem = Problem(Code.INTERNAL_ERROR, f"The error is of the type {type(error).__name__}.")
    return response(problem)


def _why(error: Exception, problem: Problem) -> str:
    """Return what the record says, which only who may read it learns: of a key that expired, that it did."""
    return type(error).__name__ if isinstance(error, KeyRefused) else str(problem.code)


def response(problem: Problem) -> HttpResponse:
    """Return the problem as it is sent."""
    status, title = MEANING[problem.code]
    body = {
        "type": f"urn:sci-rag:problem:{problem.code}",
        "title": title,
        "status": status,
        "detail": detail_of(problem),
        "code": str(problem.code),
        **problem.more,
    }
    answer = HttpResponse(
        json.dumps(body, ensure_ascii=False).encode(), status=status, content_type=MEDIA_TYPE
    )
    for name, value in problem.headers.items():
        answer[name] = value
    return answer


def detail_of(problem: Problem) -> str:
    """Return what is said of a problem, in a sentence."""
    return problem.detail or _DETAIL.get(problem.code, f"{MEANING[problem.code][1]}.")


def of(error: Exception) -> Problem | None:
    """Return the problem that an exception of a surface means; None for what is our fault."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, KeyRefused):
        return Problem(Code(error.code), headers={"WWW-Authenticate": CHALLENGE})
    if isinstance(error, RateLimited):
        return Problem(Code.RATE_LIMITED, str(error), {"Retry-After": str(error.retry_after)})
    return _of_request(error)


def _of_request(error: Exception) -> Problem | None:
    """Return the problem of a request that is not carried out; None for what is our fault."""
    match error:
        case PermissionMissing():
            return Problem(Code.INSUFFICIENT_SCOPE, str(error))
        case Http404():
            return Problem(Code.NOT_FOUND)
        case exceptions.MethodNotAllowed():
            return Problem(Code.METHOD_NOT_ALLOWED)
        case NoRoom():
            return Problem(
                Code.NO_ROOM, "Nothing of what was sent was kept. Send it again when there is room."
            )
        case NotAnObject() | InvalidScope():
            return invalid(str(error))
        case _:
            return _unreadable(error)


def _unreadable(error: Exception) -> Problem | None:
    """Return the problem of a request that cannot be read; None for what is our fault."""
    match error:
        case TooLarge() | RequestDataTooBig():
            return Problem(Code.REQUEST_TOO_LARGE, str(error) if isinstance(error, TooLarge) else "")
        case exceptions.UnsupportedMediaType():
            return invalid("The body is of a kind that is not taken here.")
        case UnusableJson():
            return Problem(Code.MALFORMED_REQUEST, str(error))
        case exceptions.APIException() | MultiPartParserError() | SuspiciousOperation() | BadRequest():
            return Problem(Code.MALFORMED_REQUEST, "The body or the address is damaged.")
        case _:
            return None
