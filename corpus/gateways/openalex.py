"""OpenAlex's index of works: searched by topic with a cursor, or asked for one work. Metadata only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from django.conf import settings

from corpus.gateways import records
from corpus.gateways.http import Outbound
from corpus.gateways.records import FoundPage, FoundWork, ProviderError

_FIELDS = (
    "id,doi,title,display_name,publication_year,language,type,authorships,primary_location,"
    "abstract_inverted_index"
)
# Words of an abstract. A place beyond is no place in one.
_MOST_WORDS = 5_000


class OpenAlex:
    """Asks OpenAlex, or its mirror of the settings. Beyond a first page it wants a key."""

    def __init__(self, outbound: Outbound, *, contact: str, base_url: str = "") -> None:
        self._outbound = outbound
        self._base = (base_url or settings.SCI_RAG_OPENALEX_URL).rstrip("/")
        key = settings.SCI_RAG_OPENALEX_API_KEY.strip()
        self._who = {"mailto": contact} | ({"api_key": key} if key else {})

    def page(self, topic: str, cursor: str) -> FoundPage:
        """Return a page of the works that are about `topic`. Raises `ProviderError`."""
        asked = {"search": topic, "per_page": records.ROWS, "cursor": cursor, "select": _FIELDS}
        answer, body = records.fetch(self._outbound, f"{self._base}/works?{urlencode(asked | self._who)}")
        meta, results = answer.get("meta"), answer.get("results")
        if not isinstance(meta, dict) or not isinstance(results, list):
            raise ProviderError("garbage")
        works = [read(one) for one in records.objects(results)]
        found = tuple(work for work in works if work is not None)
        following = meta.get("next_cursor")
        is_last = not results or not isinstance(following, str)
        return FoundPage(
            works=found,
            unreadable=len(results) - len(found),
            total=records.count(meta.get("count")),
            next_cursor="" if is_last else str(following)[:2_000],
            body=body,
        )

    def work(self, doi: str) -> FoundPage:
        """Return the record of the work with the normalised `doi`. Raises `ProviderError`."""
        asked = urlencode({"select": _FIELDS} | self._who)
        address = f"{self._base}/works/{quote(f'doi:{doi}', safe=':')}?{asked}"
        answer, body = records.fetch(self._outbound, address)
        found = read(answer)
        if found is None:
            raise ProviderError("garbage")
        if found.doi != doi:
            raise ProviderError("wrong_work")
        return FoundPage((found,), 0, 1, "", body)


def read(record: Mapping[str, Any]) -> FoundWork | None:
    """Return what a record says; None for one that names no work."""
    doi = records.doi(record.get("doi"))
    own = records.line(record.get("id")).removeprefix("https://openalex.org/")
    title = records.line(record.get("display_name")) or records.line(record.get("title"))
    if not (doi or own) or not title:
        return None
    place = record.get("primary_location")
    source = place.get("source") if isinstance(place, dict) else None
    authors = (one.get("author") for one in records.objects(record.get("authorships")))
    return FoundWork(
        key=doi or f"openalex:{own}"[:520],
        doi=doi,
        title=title,
        authors=records.names(
            records.line(one.get("display_name")) for one in authors if isinstance(one, dict)
        ),
        year=records.year(record.get("publication_year")),
        venue=records.line(source.get("display_name")) if isinstance(source, dict) else "",
        kind=records.line(record.get("type"))[:60],
        language=records.line(record.get("language"))[:20],
        abstract=_abstract(record.get("abstract_inverted_index")),
    )


def _abstract(index: Any) -> str:
    """Return the text of an abstract that is given as its words and where each of them stands."""
    if not isinstance(index, dict):
        return ""
    words: dict[int, str] = {}
    for word, places in index.items():
        if not isinstance(places, list) or not isinstance(word, str):
            return ""
        words.update({place: word for place in places if type(place) is int and 0 <= place < _MOST_WORDS})
    return records.prose(" ".join(words[place] for place in sorted(words)))
