"""What may be asked of a search or an answer, as the API takes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

ProfileName = Literal["interactive", "deep", "auto"]
EngineName = Literal["model", "extractive"]


@dataclass(frozen=True, slots=True)
class Scope:
    """What may be seen. None does not restrict; an empty list allows nothing."""

    license_classes: Sequence[str] | None = None
    buckets: Sequence[str] | None = None
    authors: Sequence[str] | None = None
    journals: Sequence[str] | None = None
    year_min: int | None = None
    year_max: int | None = None
    exclude_document_ids: Sequence[str] | None = None
    exclude_dois: Sequence[str] | None = None
    exclude_retracted: bool | None = None
    as_of: str | None = None

    def sent(self) -> dict[str, Any]:
        """Return the JSON of it: what is None is left out."""
        return {
            name: list(value) if isinstance(value, (list, tuple, set, frozenset)) else value
            for name, value in asdict(self).items()
            if value is not None
        }


def question(
    query: str,
    *,
    top_k: int,
    profile: ProfileName,
    scope: Scope | None,
    engine: EngineName | None = None,
    stream: bool = False,
) -> dict[str, Any]:
    """Return the JSON of a question."""
    asked: dict[str, Any] = {"query": query, "top_k": top_k, "profile": profile}
    if scope is not None:
        asked["scope"] = scope.sent()
    if engine is not None:
        asked["engine"] = engine
    if stream:
        asked["stream"] = True
    return asked
