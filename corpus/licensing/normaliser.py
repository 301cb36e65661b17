"""From a raw licence signal of any kind to a class. Known forms only: what is not recognised is unknown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

from corpus.licensing import addresses, creative_commons, crossref, jats, spdx, statements, tables
from corpus.licensing.crossref import CrossrefLicense
from corpus.licensing.jats import JatsLicense
from corpus.licensing.readings import LicenseReading, unknown

Signal = str | JatsLicense | Sequence[CrossrefLicense] | Sequence[Mapping[str, Any]]

# Dashes and spaces that type sets in place of the plain ones. No letter is ever taken for another.
_DASHES = re.compile("[\u2010-\u2015\u2212\u00ad\ufe58\uff0d]")
_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_LONGEST_CODE = 200
_BEGINS = re.compile(r"\s*\(from (\d{4}-\d{2}-\d{2})\)")


def normalise(signal: Signal, *, on: date | None = None, version: str = "vor") -> LicenseReading:
    """Return what `signal` establishes: a string, a JATS element, or the licence array of a Crossref record.

    A string may be an address, an SPDX expression, a code as Unpaywall and OpenAlex use them, a licence's
    name, or a statement. `on` is the day to judge dates by, today if none; `version` the version of the
    work held, of those Crossref names. Never raises for a string, whatever it holds. A string may say
    "(from 2027-01-01)" of itself, as the JATS parser writes it: until that day it opens nothing.
    """
    day = on or datetime.now(tz=UTC).date()
    if isinstance(signal, str):
        return _dated(signal, day)
    if isinstance(signal, JatsLicense):
        return jats.read(signal, on=day)
    elements = [one if isinstance(one, CrossrefLicense) else CrossrefLicense.of(one) for one in signal]
    return crossref.read(elements, on=day, version=version)


def _dated(signal: str, on: date) -> LicenseReading:
    """Read a text, and withhold an open reading while it says that it begins on a later day."""
    begins = _BEGINS.findall(signal[: statements.LONGEST])
    if not begins:
        return _text(signal)
    reading = _text(_BEGINS.sub("", signal))
    # A day that is none never comes.
    days = [_day(text) for text in begins]
    later = [day for day in days if day is None or day > on]
    if not later or not reading.is_open:
        return reading
    held = unknown("The licence begins on a later day.")
    named = [day for day in later if day is not None]
    if len(named) < len(later):
        return held
    return replace(held, not_before=max(named), then=reading.license_class)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _text(signal: str) -> LicenseReading:
    if len(signal) > statements.LONGEST:
        return unknown("Too long for a statement of rights.")
    if _NOT_TEXT.search(signal):
        return unknown("The signal holds characters that are not text.")
    text = " ".join(_SPACES.sub(" ", _DASHES.sub("-", signal)).split())
    # An address may stand between the marks that delimit one.
    text = text[1:-1].strip() if text.startswith("<") and text.endswith(">") and "<" not in text[1:] else text
    if not text:
        return unknown("Nothing is stated.")
    if addresses.looks_like_one(text):
        return addresses.read(text)
    return addresses.with_spaces(text) or _short(text) or statements.read(text)


def _short(text: str) -> LicenseReading | None:
    """Read a text that is nothing but a code, an identifier or a name."""
    if len(text) > spdx.LONGEST:
        return None
    code = text.lower()
    known = tables.names().get(code) or tables.spdx_names().get(code)
    if known is not None:
        return known.reading()
    if len(text) <= _LONGEST_CODE:
        coded = creative_commons.from_code(code)
        if coded is not None:
            return coded
    return spdx.expression(text)
