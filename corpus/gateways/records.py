"""What the indexes of works have in common: how they are asked for JSON, and how their fields are read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from corpus.gateways.http import Outbound, OutboundError
from corpus.identifiers import normalise_doi

MOST_BYTES = 20_000_000
_MEDIA_TYPES = ("application/json",)
_LONGEST_LINE, _LONGEST_TEXT, _MOST_AUTHORS = 2_000, 20_000, 500
_NO_TEXT = {code: None for code in range(32) if code not in {9, 10, 13}}
_FIRST_YEAR, _LAST_YEAR = 1000, 2100
# May be another thing the next time.
_PASSING = frozenset(
    {"rate_limited", "unavailable", "garbage", "timeout", "unreachable", "truncated", "wrong_type"}
)


class ProviderError(Exception):
    """An index gave no usable answer. `code` says why.

    Besides the codes of `OutboundError`: rate_limited, unavailable, rejected, not_found, garbage, wrong_work
    for the record of another work than the one asked for, and key_needed.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code

    @property
    def passes(self) -> bool:
        """Whether another try may bring the answer."""
        return self.code in _PASSING


@dataclass(frozen=True, slots=True)
class FoundWork:
    """What an index says of one work. What it does not say is empty or None."""

    key: str
    doi: str = ""
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    kind: str = ""
    language: str = ""
    abstract: str = ""


@dataclass(frozen=True, slots=True)
class FoundPage:
    """One page of a search. Without `next_cursor` it is the last."""

    works: tuple[FoundWork, ...]
    unreadable: int
    total: int | None
    next_cursor: str
    body: bytes = field(repr=False)


class WorkIndex(Protocol):
    """An index of works that can be searched. Both raise `ProviderError`."""

    def page(self, topic: str, cursor: str) -> FoundPage:
        """Return a page of the works about `topic`; the first cursor is `FIRST`."""

    def work(self, doi: str) -> FoundPage:
        """Return the record of one work as a page of one."""


FIRST = "*"
ROWS = 100


def fetch(outbound: Outbound, address: str) -> tuple[Mapping[str, Any], bytes]:
    """Return the JSON object at `address` and the bytes it came as; raise `ProviderError`."""
    try:
        fetched = outbound.get(address, accept=_MEDIA_TYPES, most_bytes=MOST_BYTES)
    except OutboundError as error:
        raise ProviderError(error.code) from None
    if fetched.status != 200:
        raise ProviderError(_refusal(fetched.status))
    try:
        answer = json.loads(fetched.body)
    except (ValueError, RecursionError):
        raise ProviderError("garbage") from None
    if not isinstance(answer, dict):
        raise ProviderError("garbage")
    return answer, fetched.body


def _refusal(status: int) -> str:
    if status in {401, 403}:
        return "key_needed" if status == 401 else "rejected"
    if status == 404:
        return "not_found"
    if status == 429:
        return "rate_limited"
    return "rejected" if 400 <= status < 500 and status != 408 else "unavailable"


def line(value: Any) -> str:
    """Return `value` in one line, without characters that no text column takes."""
    if not isinstance(value, str):
        return ""
    kept = value.translate(_NO_TEXT).encode("utf-8", "ignore").decode()
    return " ".join(kept.split())[:_LONGEST_LINE]


def prose(value: str) -> str:
    """Return a longer text, bounded, without characters that no text column takes."""
    kept = value[: 4 * _LONGEST_TEXT].translate(_NO_TEXT).encode("utf-8", "ignore").decode()
    return " ".join(kept.split())[:_LONGEST_TEXT]


def year(value: Any) -> int | None:
    """Return a year that can be one."""
    return value if type(value) is int and _FIRST_YEAR <= value <= _LAST_YEAR else None


def count(value: Any) -> int | None:
    """Return how many there are, None where nothing usable is said."""
    return value if type(value) is int and 0 <= value < 2**31 else None


def doi(value: Any) -> str:
    """Return the normalised DOI of a field, nothing where there is none."""
    return (normalise_doi(line(value)) or "")[:500]


def objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def names(values: Iterator[str]) -> tuple[str, ...]:
    """Return the names that are there, so many at most."""
    found = [name[:300] for name in values if name]
    return tuple(found[:_MOST_AUTHORS])
