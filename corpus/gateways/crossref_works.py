"""Crossref's index of works: searched by topic with a cursor, or asked for one work. Metadata only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Any
from urllib.parse import quote, urlencode

from django.conf import settings

from corpus.gateways import records
from corpus.gateways.http import Outbound
from corpus.gateways.records import FoundPage, FoundWork, ProviderError

_FIELDS = "DOI,title,author,issued,published,container-title,type,language,abstract"
# Abstracts come with JATS's marks; a heading of that name says nothing.
_TAG = re.compile(r"<[^<>]{0,200}>")
_WITHIN_WORDS = re.compile(r"</?(?:jats:)?(?:sub|sup|italic|bold|i|b|sc|underline)>", re.IGNORECASE)
_HEADING = re.compile(r"\A\s*abstract[\s:.]+", re.IGNORECASE)


class CrossrefWorks:
    """Asks Crossref, or its mirror of the settings."""

    def __init__(self, outbound: Outbound, *, contact: str, base_url: str = "") -> None:
        self._outbound = outbound
        self._base = (base_url or settings.SCI_RAG_CROSSREF_URL).rstrip("/")
        self._contact = contact

    def page(self, topic: str, cursor: str) -> FoundPage:
        """Return a page of the works that are about `topic`. Raises `ProviderError`."""
        asked = {
            "query.bibliographic": topic,
            "rows": records.ROWS,
            "cursor": cursor,
            "select": _FIELDS,
            "mailto": self._contact,
        }
        message, body = self._asked(f"{self._base}/works?{urlencode(asked)}")
        items = message.get("items")
        if not isinstance(items, list):
            raise ProviderError("garbage")
        found = tuple(work for work in map(read, records.objects(items)) if work is not None)
        following = message.get("next-cursor")
        # Crossref names a next page after the last one too.
        is_last = len(items) < records.ROWS or not isinstance(following, str)
        return FoundPage(
            works=found,
            unreadable=len(items) - len(found),
            total=records.count(message.get("total-results")),
            next_cursor="" if is_last else str(following)[:2_000],
            body=body,
        )

    def work(self, doi: str) -> FoundPage:
        """Return the record of the work with the normalised `doi`. Raises `ProviderError`."""
        asked = urlencode({"mailto": self._contact})
        message, body = self._asked(f"{self._base}/works/{quote(doi, safe='')}?{asked}")
        found = read(message)
        if found is None:
            raise ProviderError("garbage")
        if found.doi != doi:
            raise ProviderError("wrong_work")
        return FoundPage((found,), 0, 1, "", body)

    def _asked(self, address: str) -> tuple[Mapping[str, Any], bytes]:
        answer, body = records.fetch(self._outbound, address)
        message = answer.get("message")
        if not isinstance(message, dict):
            raise ProviderError("garbage")
        return message, body


def read(record: Mapping[str, Any]) -> FoundWork | None:
    """Return what a record says; None for one that names no work."""
    doi, title = records.doi(record.get("DOI")), _first(record.get("title"))
    if not doi or not title:
        return None
    return FoundWork(
        key=doi,
        doi=doi,
        title=title,
        authors=records.names(_name(one) for one in records.objects(record.get("author"))),
        year=_year(record.get("issued")) or _year(record.get("published")),
        venue=_first(record.get("container-title")),
        kind=records.line(record.get("type"))[:60],
        language=records.line(record.get("language"))[:20],
        abstract=_abstract(record.get("abstract")),
    )


def _first(value: Any) -> str:
    texts = value if isinstance(value, list) else [value]
    return next((_plain(text) for text in map(records.line, texts) if text), "")


def _plain(text: str) -> str:
    return records.line(unescape(_TAG.sub("", text)))


def _abstract(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    return records.prose(_HEADING.sub("", unescape(_TAG.sub(" ", _WITHIN_WORDS.sub("", value[:100_000])))))


def _name(author: Mapping[str, Any]) -> str:
    given, family = records.line(author.get("given")), records.line(author.get("family"))
    return f"{given} {family}".strip() or records.line(author.get("name"))


def _year(value: Any) -> int | None:
    dates = value.get("date-parts") if isinstance(value, dict) else None
    parts = dates[0] if isinstance(dates, list) and dates else None
    return records.year(parts[0]) if isinstance(parts, list) and parts else None
