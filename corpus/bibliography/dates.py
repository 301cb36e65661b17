"""Years from the many forms in which libraries write dates. Pure."""

from __future__ import annotations

import re

_YEAR = re.compile(r"(?<![\d-])(1\d{3}|20\d{2})(?!\d)")
_COMPACT = re.compile(r"(?<!\d)(1\d{3}|20\d{2})(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?!\d)")
_AFTER_HYPHEN = re.compile(r"(?<=\d-)(1\d{3}|20\d{2})(?!\d)")
_LONGEST = 200


def year_of(date: str) -> int | None:
    """Return the year in `date`, the first one of a range, or None where it states none.

    >>> [year_of(date) for date in ("2010-01-27", "12 Mai 1998", "20150312", "03-04-2011", "in press")]
    [2010, 1998, 2015, 2011, None]
    """
    text = date[:_LONGEST]
    for pattern in (_YEAR, _COMPACT, _AFTER_HYPHEN):
        found = pattern.search(text)
        if found is not None:
            return int(found[1])
    return None
