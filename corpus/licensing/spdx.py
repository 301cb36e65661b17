"""SPDX identifiers and expressions of them."""

from __future__ import annotations

import re
from functools import cache

from corpus.licensing import creative_commons, tables
from corpus.licensing.readings import LicenseReading, strictest
from corpus.licensing.tables import KnownForm
from corpus.rights import raises

LONGEST = 500
_DEEPEST = 8
_TOKEN = re.compile(r"\(|\)|[A-Za-z0-9.+-]+")
_CC = re.compile(r"cc-by(-[a-z]{2})*-\d\.\d(-[a-z]+)?|cc0-1\.0|cc-pdm-1\.0", re.IGNORECASE)
_EXCEPTION = re.compile(r"[A-Za-z0-9.-]+-(?:exception|linking-exception)(?:-[A-Za-z0-9.-]+)?", re.IGNORECASE)
# Identifiers that are a word on its own: only what nobody writes by chance is read in any case.
_IN_ANY_CASE = frozenset({"mit", "isc", "zlib", "unlicense", "postgresql", "wtfpl"})
# Identifiers that are names of companies and things as well: on their own they say nothing about rights.
_ALSO_WORDS = frozenset(
    {"Fair", "ICU", "Intel", "IPA", "Jam", "Multics", "Nokia", "Ruby", "TCL", "Vim", "WordNet"}
)


class _NotAnExpression(Exception):
    """What was given is no expression of known identifiers."""


def identifier(text: str) -> LicenseReading | None:
    """Read one identifier of the SPDX list, "CC-BY-4.0" and its kin among them."""
    if _CC.fullmatch(text):
        return creative_commons.from_code(text.lower())
    if text in _ALSO_WORDS:
        return None
    row = tables.spdx_ids().get(text) or _by_lower_case().get(text.lower())
    return None if row is None else row.reading()


def expression(text: str) -> LicenseReading | None:
    """Read identifiers joined by AND, OR and WITH. All must be known; OR leaves the choice to the user."""
    tokens = _TOKEN.findall(text)
    if len(text) > LONGEST or "".join(tokens) != "".join(text.split()):
        return None
    try:
        reading = _any_of(tokens, 0)
    except _NotAnExpression:
        return None
    return None if tokens else reading


@cache
def _by_lower_case() -> dict[str, KnownForm]:
    rows = tables.spdx_ids().items()
    return {form.lower(): row for form, row in rows if not form.isalpha() or form.lower() in _IN_ANY_CASE}


def _any_of(tokens: list[str], depth: int) -> LicenseReading:
    best = _all_of(tokens, depth)
    while tokens and tokens[0].upper() == "OR":
        del tokens[0]
        other = _all_of(tokens, depth)
        best = other if raises(best.license_class, other.license_class) else best
    return best


def _all_of(tokens: list[str], depth: int) -> LicenseReading:
    readings = [_one(tokens, depth)]
    while tokens and tokens[0].upper() == "AND":
        del tokens[0]
        readings.append(_one(tokens, depth))
    return strictest(readings)


def _one(tokens: list[str], depth: int) -> LicenseReading:
    if not tokens or depth > _DEEPEST:
        raise _NotAnExpression
    token = tokens.pop(0)
    if token == "(":  # noqa: S105
        inner = _any_of(tokens, depth + 1)
        if not tokens or tokens.pop(0) != ")":
            raise _NotAnExpression
        return inner
    reading = identifier(token)
    if reading is None:
        raise _NotAnExpression
    return _with_exception(reading, tokens)


def _with_exception(reading: LicenseReading, tokens: list[str]) -> LicenseReading:
    """An exception adds permissions to those of the licence it is attached to."""
    if not tokens or tokens[0].upper() != "WITH":
        return reading
    del tokens[0]
    if not tokens or _EXCEPTION.fullmatch(tokens.pop(0)) is None:
        raise _NotAnExpression
    return reading
