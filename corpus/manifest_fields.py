"""What each field of a manifest entry may hold. The same checks serve the options of a single file. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from corpus.identifiers import normalise_doi
from corpus.parsing import parsers
from corpus.rights import ALL_CLASSES, LicenseClass, UnknownLicenseClass, parse_class

_LANGUAGE = re.compile(r"([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]{2,8})*")
_FIRST_YEAR, _LAST_YEAR = 1000, 2100
_MAX_AUTHORS = 2_000


class FieldError(ValueError):
    """A value that a field may not hold. The message goes on after the field's name."""

    def __init__(self, message: str, *, is_unknown_class: bool = False) -> None:
        super().__init__(message)
        self.is_unknown_class = is_unknown_class


def text(limit: int) -> Callable[[Any], str]:
    """Return a check for one line of text of at most `limit` characters."""

    def check(value: Any) -> str:
        if not isinstance(value, str):
            raise FieldError("must be text.")
        line = " ".join(value.split())
        if not line:
            raise FieldError("is empty.")
        if len(line) > limit:
            raise FieldError(f"is longer than {limit:,} characters.")
        if any(unicodedata.category(char) in ("Cc", "Cs") for char in line):
            raise FieldError("holds control characters or broken Unicode.")
        return line

    return check


def authors(value: Any) -> tuple[str, ...]:
    """Return the names of a list of authors."""
    if not isinstance(value, list | tuple) or len(value) > _MAX_AUTHORS:
        raise FieldError(f"must be a list of at most {_MAX_AUTHORS:,} names.")
    name = text(300)
    return tuple(name(item) for item in value)


def year(value: Any) -> int:
    """Return a year of publication."""
    if isinstance(value, bool) or not isinstance(value, int) or not _FIRST_YEAR <= value <= _LAST_YEAR:
        raise FieldError(f"must be a year between {_FIRST_YEAR} and {_LAST_YEAR}.")
    return value


def doi(value: Any) -> str:
    """Return a DOI as it was given."""
    given = text(500)(value)
    if normalise_doi(given) is None:
        raise FieldError("is not a DOI. A DOI looks like 10.1234/abc.")
    return given


def url(value: Any) -> str:
    """Return a web address."""
    given = text(2_000)(value)
    try:
        parts = urlsplit(given)
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_web = False
    if not is_web or any(char in given for char in ' "<>\\'):
        raise FieldError("must be an address that starts with http:// or https://.")
    return given


def license_class(value: Any) -> LicenseClass:
    """Return one of the five licence classes."""
    try:
        return parse_class(text(60)(value))
    except UnknownLicenseClass:
        raise FieldError(f"is none of {', '.join(ALL_CLASSES)}.", is_unknown_class=True) from None


def day(value: Any) -> str:
    """Return a day as it is written in JSON."""
    given = text(40)(value)
    try:
        return date.fromisoformat(given).isoformat()
    except ValueError:
        raise FieldError("must be a day such as 2027-01-31.") from None


def language(value: Any) -> str:
    """Return the language's code, without region or script."""
    match = _LANGUAGE.fullmatch(text(40)(value))
    if match is None:
        raise FieldError("must be a language code such as en.")
    return match[1].lower()


def parser(value: Any) -> str:
    """Return the name of one of the parsers."""
    name = text(60)(value)
    if name not in parsers.NAMES:
        raise FieldError(f"is none of {', '.join(parsers.NAMES)}.")
    return name


FIELDS: dict[str, Callable[[Any], Any]] = {
    "title": text(1_000),
    "authors": authors,
    "year": year,
    "doi": doi,
    "journal": text(500),
    "url": url,
    "license_class": license_class,
    "license_source": text(4_000),
    "embargo_until": day,
    "bucket": text(100),
    "version": text(100),
    "supersedes": text(2_000),
    "language": language,
    "parser": parser,
    "vouched_for": text(300),
}
