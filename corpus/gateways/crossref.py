"""Crossref's record of a work, typed. A record that is not whole is an error, never an empty record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import quote

from django.conf import settings

from corpus.gateways.http import Fetched, Outbound, OutboundError
from corpus.identifiers import normalise_doi
from corpus.licensing import CrossrefLicense

MOST_BYTES = 10_000_000
MOST_REFERENCES = 5_000
_MEDIA_TYPES = ("application/json",)
_LONGEST = 4_000
# May be another thing the next time.
_PASSING = frozenset(
    {"rate_limited", "unavailable", "garbage", "timeout", "unreachable", "truncated", "wrong_type"}
)
_NO_TEXT = {code: None for code in range(32) if code not in {9, 10, 13}}


class CrossrefError(Exception):
    """Crossref gave no record. `code` says why.

    Besides the codes of `OutboundError`: rate_limited, unavailable, rejected, not_found, garbage, and
    wrong_work for the record of another work than the one asked for.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code

    @property
    def passes(self) -> bool:
        """Whether another try may bring the record."""
        return self.code in _PASSING


@dataclass(frozen=True, slots=True)
class Update:
    """One element of `update-to` or `updated-by`: what is said to have happened, by which record, when."""

    kind: str
    label: str
    doi: str
    source: str
    on: date | None
    has_full_date: bool = True


@dataclass(frozen=True, slots=True)
class Reference:
    """One entry of a deposited reference list."""

    text: str
    title: str
    doi: str


@dataclass(frozen=True, slots=True)
class Work:
    """What Crossref says about one work. What it does not say is empty or None."""

    doi: str
    title: str
    container: str
    publisher: str
    published: date | None
    """The earliest day on which any part of the record says that it was there."""
    year: int | None
    cited_by: int | None
    licenses: tuple[CrossrefLicense, ...]
    references: tuple[Reference, ...]
    update_to: tuple[Update, ...]
    updated_by: tuple[Update, ...]


class Crossref:
    """Asks Crossref, or its mirror of the settings, for works."""

    def __init__(self, outbound: Outbound, *, base_url: str = "") -> None:
        self._outbound = outbound
        self._base = (base_url or settings.SCI_RAG_CROSSREF_URL).rstrip("/")

    def work(self, doi: str) -> Work:
        """Return the record of the work with the normalised `doi`. Raises `CrossrefError`."""
        address = f"{self._base}/works/{quote(doi, safe='')}"
        try:
            fetched = self._outbound.get(address, accept=_MEDIA_TYPES, most_bytes=MOST_BYTES)
        except OutboundError as error:
            raise CrossrefError(error.code) from None
        if fetched.status != 200:
            raise CrossrefError(_refusal(fetched.status))
        return read(_message(fetched), doi)


def _refusal(status: int) -> str:
    if status == 404:
        return "not_found"
    if status == 429:
        return "rate_limited"
    return "rejected" if 400 <= status < 500 and status != 408 else "unavailable"


def _message(fetched: Fetched) -> Mapping[str, Any]:
    try:
        answer = json.loads(fetched.body)
    except (ValueError, RecursionError):
        raise CrossrefError("garbage") from None
    message = answer.get("message") if isinstance(answer, dict) else None
    if not isinstance(message, dict) or not isinstance(message.get("DOI"), str):
        raise CrossrefError("garbage")
    return message


def read(message: Mapping[str, Any], doi: str) -> Work:
    """Return `message` as the record of `doi`.

    Fields of the wrong shape are left out, save the updates: where these cannot be read, nothing is known.
    """
    # A DOI with a percent sign does not survive being normalised twice.
    if doi not in {normalise_doi(message["DOI"]), message["DOI"].strip().lower()}:
        raise CrossrefError("wrong_work")
    days = [_day(message.get(name)) for name in _DATES]
    published = min((day for day in days if day is not None), default=None)
    issued = _day(message.get("issued")) or published
    count = message.get("is-referenced-by-count")
    return Work(
        doi=doi,
        title=_first(message.get("title")),
        container=_first(message.get("container-title")),
        publisher=_text(message.get("publisher")),
        published=published,
        year=None if issued is None else issued.year,
        cited_by=count if type(count) is int and 0 <= count < 2**31 else None,
        licenses=tuple(CrossrefLicense.of(one) for one in _objects(message.get("license"))),
        references=tuple(_references(message.get("reference"))),
        update_to=_updates(message.get("update-to")),
        updated_by=_updates(message.get("updated-by")),
    )


_DATES = ("issued", "published", "published-online", "published-print", "posted", "created")


def _updates(value: Any) -> tuple[Update, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise CrossrefError("garbage")
    return tuple(map(_update, value))


def _update(element: Mapping[str, Any]) -> Update:
    doi, kind = normalise_doi(_text(element.get("DOI"))), _text(element.get("type"))
    if doi is None or not kind:
        raise CrossrefError("garbage")
    return Update(
        kind=kind,
        label=_text(element.get("label")),
        doi=doi,
        source=_text(element.get("source")),
        on=_day(element.get("updated")),
        has_full_date=len(_parts(element.get("updated"))) >= 3,
    )


def _references(value: Any) -> Iterator[Reference]:
    for one in _objects(value)[:MOST_REFERENCES]:
        title = _text(one.get("article-title")) or _text(one.get("volume-title"))
        parts = [_text(one.get(name)) for name in ("author", "year")] + [
            title,
            _text(one.get("journal-title")),
        ]
        text = _text(one.get("unstructured")) or ". ".join(part for part in parts if part)
        doi = normalise_doi(_text(one.get("DOI"))) or ""
        if text or doi:
            yield Reference(text=text[:_LONGEST], title=title, doi=doi[:500])


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _first(value: Any) -> str:
    return next((text for text in map(_text, value) if text), "") if isinstance(value, list) else _text(value)


def _text(value: Any) -> str:
    """Return `value` in one line, without characters that no text column takes."""
    if not isinstance(value, str):
        return ""
    kept = value.translate(_NO_TEXT).encode("utf-8", "ignore").decode()
    return " ".join(kept.split())[:_LONGEST]


def _day(value: Any) -> date | None:
    """Return the first day of {"date-parts": [[2020, 6]]}, None where there is none."""
    parts = _parts(value)
    if not parts:
        return None
    year, month, day = [*parts, 1, 1][:3]
    try:
        return date(year, month, day)
    except (ValueError, OverflowError):
        return None


def _parts(value: Any) -> list[int]:
    dates = value.get("date-parts") if isinstance(value, dict) else None
    parts = dates[0] if isinstance(dates, list) and dates else None
    whole = isinstance(parts, list) and all(type(part) is int for part in parts)
    return list(parts) if whole and parts else []
