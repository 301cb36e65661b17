"""Metadata values as documents state them, brought to our types."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from typing import Any

from corpus.normalise import one_line

_YEAR = re.compile(r"(?<!\d)(1[5-9]\d{2}|20\d{2})(?!\d)")
_NAMES_BETWEEN = re.compile(r"\s*(?:;|\band\b|&)\s*")
_MOST_AUTHORS = 5_000
_LICENSE = re.compile(
    r"creativecommons\.org/|creative commons|\bCC[ -](?:BY|0)\b|public domain|open government licence"
    r"|all rights reserved",
    re.IGNORECASE,
)
_LONGEST_STATEMENT = 600


def as_year(value: Any) -> int | None:
    """Return the first plausible year in a date, number or string."""
    if isinstance(value, date):
        return value.year
    found = _YEAR.search(str(value)) if value is not None else None
    return int(found[0]) if found is not None else None


def as_names(value: Any) -> tuple[str, ...]:
    """Return author names from a list, from mappings with a name, or from one string of several names."""
    if value is None:
        return ()
    if isinstance(value, str):
        names = _NAMES_BETWEEN.split(value) if _NAMES_BETWEEN.search(value) else value.split(", ")
        return tuple(name for name in map(one_line, names) if name)
    if isinstance(value, dict):
        return tuple(name for name in [_name_of(value)] if name)
    if not isinstance(value, list):
        return ()
    names = [
        _name_of(item) if isinstance(item, dict) else one_line(str(item)) for item in value[:_MOST_AUTHORS]
    ]
    return tuple(name for name in names if name)


def _name_of(entry: dict[Any, Any]) -> str:
    if entry.get("name"):
        return one_line(str(entry["name"]))
    parts = (entry.get("given") or entry.get("given-names"), entry.get("family") or entry.get("surname"))
    return one_line(" ".join(str(part) for part in parts if part))


def find_license(texts: Iterable[str]) -> str:
    """Return the sentences around the first mention of a licence, verbatim; "" where none is mentioned."""
    for text in texts:
        found = _LICENSE.search(text)
        if found is not None:
            start = max(text.rfind(". ", 0, found.start()) + 1, found.start() - _LONGEST_STATEMENT // 2, 0)
            return text[start : start + _LONGEST_STATEMENT].strip()
    return ""
