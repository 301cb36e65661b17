"""What can go wrong, as exceptions: one for each code of the API, and a few for what never got there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

_LONGEST = 500


class ClientError(Exception):
    """Whatever this client raises."""


class ConnectionFailed(ClientError):
    """The site could not be reached, or the connection broke."""


class TimedOut(ConnectionFailed):
    """The site took longer than one waits."""


class BadAnswer(ClientError):
    """What came is no answer of the API: a proxy's page, or another version's."""


class StreamBroken(ConnectionFailed):
    """A stream ended without saying how the answer ended. What came is kept under the answer's id."""


@dataclass(eq=False)
class ApiError(ClientError):
    """The API did not do what was asked. `code` is stable; `request_id` is what to tell the operator."""

    status: int
    code: str
    detail: str
    request_id: str = ""
    errors: list[dict[str, str]] = field(default_factory=list)
    retry_after: float | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        named = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.status} {self.code}: {self.detail}{named}"


class InvalidKey(ApiError):
    """The key is missing, unknown, expired or revoked, or its owner's account is closed."""


class InsufficientScope(ApiError):
    """The key, or its owner, may not do this."""


class NotFound(ApiError):
    """There is no such thing, or the key may not see it."""


class InvalidRequest(ApiError):
    """The request makes no sense, cannot be read or is too large; `errors` says where."""


class RateLimited(ApiError):
    """The key was used too often; `retry_after` says how long to wait."""


class GenerationFailed(ApiError):
    """The answer could not be written. `more` names the answer that keeps what came of it."""


class ModelUnavailable(ApiError):
    """A model is not available, or the site answers as many questions as it can."""


class ServerError(ApiError):
    """Something went wrong on the site's side."""


_BY_CODE: dict[str, type[ApiError]] = {
    "missing_key": InvalidKey,
    "invalid_key": InvalidKey,
    "insufficient_scope": InsufficientScope,
    "not_found": NotFound,
    "malformed_request": InvalidRequest,
    "request_too_large": InvalidRequest,
    "invalid_request": InvalidRequest,
    "rate_limited": RateLimited,
    "generation_failed": GenerationFailed,
    "llm_unavailable": ModelUnavailable,
    "internal_error": ServerError,
}
_KNOWN = {"type", "title", "status", "detail", "code", "errors"}


def of(response: httpx.Response) -> ClientError:
    """Return the exception of a response that is no success; its body has been read."""
    request_id = response.headers.get("x-request-id", "")
    try:
        body = json.loads(response.content)
        code, detail = str(body["code"]), str(body["detail"])
    except (ValueError, KeyError, TypeError):
        return BadAnswer(
            f"The address answered {response.status_code} with something that is no problem of this API."
        )
    return _BY_CODE.get(code, ServerError if response.status_code >= 500 else ApiError)(
        status=response.status_code,
        code=code,
        detail=detail[:_LONGEST],
        request_id=request_id,
        errors=[dict(one) for one in body.get("errors", [])],
        retry_after=retry_after(response),
        more={name: value for name, value in body.items() if name not in _KNOWN},
    )


def retry_after(response: httpx.Response) -> float | None:
    """Return the seconds that a response asks to wait."""
    said = response.headers.get("retry-after", "").strip()
    return float(said) if said.isascii() and said.isdigit() and len(said) < 10 else None
