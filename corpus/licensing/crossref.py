"""The licences of a Crossref record. The whole array is read, each element with its version and start."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from corpus.licensing import addresses
from corpus.licensing.readings import LicenseReading, strictest, unknown
from corpus.rights import LicenseClass

MOST_ELEMENTS = 200
_FOR_MINING = frozenset({"tdm", "stm-asf"})
_OF_NO_VERSION = "unspecified"


@dataclass(frozen=True, slots=True)
class CrossrefLicense:
    """One element of a record's `license` array. `start` is None where the record gives no valid day."""

    url: str
    content_version: str = _OF_NO_VERSION
    start: date | None = None
    has_start: bool = False

    @classmethod
    def of(cls, element: Mapping[str, Any]) -> CrossrefLicense:
        """Return the element as Crossref's API writes it."""
        given = element.get("start")
        return cls(
            url=str(element.get("URL") or ""),
            content_version=str(element.get("content-version") or _OF_NO_VERSION).strip().lower(),
            start=_day(given),
            has_start=given is not None,
        )


def read(licenses: Sequence[CrossrefLicense], *, on: date, version: str = "vor") -> LicenseReading:
    """Read what the array allows on the day `on` with the given version of the work.

    Elements for text and data mining never open the text. Of the elements in force, those that began
    last count, and of these the strictest. One that begins later gives the day and the class it brings.
    """
    if len(licenses) > MOST_ELEMENTS:
        return unknown("The record lists more licences than a work has.")
    for_version = [one for one in licenses if one.content_version in {version, _OF_NO_VERSION}]
    if not for_version:
        return _for_mining_only(licenses)
    if any(one.has_start and one.start is None for one in for_version):
        return unknown("The record gives a day that cannot be read.")
    in_force = [one for one in for_version if one.start is None or one.start <= on]
    return _with_later(_in_force(in_force), [one for one in for_version if one not in in_force])


def _for_mining_only(licenses: Sequence[CrossrefLicense]) -> LicenseReading:
    mining = [one for one in licenses if one.content_version in _FOR_MINING]
    if not mining or any(addresses.read(one.url.strip()).is_open for one in mining):
        return unknown("The record names no licence for this version of the work.")
    return LicenseReading(
        LicenseClass.RESTRICTED,
        no_derivatives=False,
        reason="Licensed for text and data mining only.",
        matched_form=mining[0].url,
    )


def _in_force(licenses: Sequence[CrossrefLicense]) -> LicenseReading | None:
    if not licenses:
        return None
    last = max(one.start or date.min for one in licenses)
    readings = [addresses.read(one.url.strip()) for one in licenses if (one.start or date.min) == last]
    known = [reading for reading in readings if reading.is_known]
    undecided = [reading for reading in readings if not reading.is_known]
    if undecided and any(reading.is_open for reading in known):
        return undecided[0]
    return strictest(known or undecided)


def _with_later(now: LicenseReading | None, later: Sequence[CrossrefLicense]) -> LicenseReading:
    reading = now or unknown("The licence begins on a later day.")
    opening = [(one.start, addresses.read(one.url.strip())) for one in later if one.start is not None]
    coming = min(
        ((day, then) for day, then in opening if then.is_open), default=None, key=lambda item: item[0]
    )
    if coming is None or reading.is_open:
        return reading
    day, then = coming
    return replace(reading, not_before=day, then=then.license_class, matched_form=then.matched_form)


def _day(start: Any) -> date | None:
    """Return the day of {"date-parts": [[2023, 3, 27]]} or [2023, 3, 27]; the last of a year or month."""
    dates = start.get("date-parts") if isinstance(start, Mapping) else [start]
    parts = dates[0] if isinstance(dates, list) and dates else None
    if not isinstance(parts, Sequence) or isinstance(parts, str) or not 1 <= len(parts) <= 3:
        return None
    if not all(type(part) is int for part in parts):
        return None
    try:
        match list(parts):
            case [year]:
                return date(year, 12, 31)
            case [year, month]:
                return date(year, month, monthrange(year, month)[1])
            case [year, month, day]:
                return date(year, month, day)
    except ValueError:
        pass
    return None
