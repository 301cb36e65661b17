"""Days as people write them: a year, a month or a day. Pure."""

from __future__ import annotations

import calendar
import re
from datetime import date

FIRST_YEAR, LAST_YEAR = 1000, 2999
_WRITTEN = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")


class InvalidDay(ValueError):
    """Something that is no day. The message is for whoever wrote it."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f"{text[:40]!r} is not a day. Write a year, a month or a day: 2019, 2019-05 or 2019-05-31, "
            f"from {FIRST_YEAR} to {LAST_YEAR}."
        )


def last_day_of(text: str) -> date:
    """Return the day that `text` names, or the last day of the year or month that it names.

    >>> last_day_of("2019").isoformat()
    '2019-12-31'

    Raises `InvalidDay`.
    """
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        raise InvalidDay(text)
    year, month, day = (int(part) if part else None for part in match.groups())
    if year is None or not FIRST_YEAR <= year <= LAST_YEAR:
        raise InvalidDay(text)
    try:
        return ending(year, month, day)
    except ValueError:
        raise InvalidDay(text) from None


def ending(year: int, month: int | None = None, day: int | None = None) -> date:
    """Return the day itself, or the last one of the month or year. Raises `ValueError` for what is none."""
    month = 12 if month is None else month
    if day is not None:
        return date(year, month, day)
    if not 1 <= month <= 12:
        raise ValueError(month)
    return date(year, month, calendar.monthrange(year, month)[1])
