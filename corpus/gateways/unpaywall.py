"""Unpaywall's record of where a work is open: each place with its own licence, as it is stated there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from django.conf import settings

from corpus.gateways import records
from corpus.gateways.http import Outbound
from corpus.gateways.records import ProviderError

_MOST_PLACES = 50
_LONGEST_ADDRESS = 2_048


@dataclass(frozen=True, slots=True)
class Place:
    """One place where a work is said to be open. `license_source` is the code as given, empty for none."""

    pdf_url: str
    license_source: str
    version: str
    host: str
    is_best: bool


class Unpaywall:
    """Asks Unpaywall, or its mirror of the settings."""

    def __init__(self, outbound: Outbound, *, contact: str, base_url: str = "") -> None:
        self._outbound = outbound
        self._base = (base_url or settings.SCI_RAG_UNPAYWALL_URL).rstrip("/")
        self._contact = contact

    def places(self, doi: str) -> tuple[Place, ...]:
        """Return where the work with this normalised DOI is open, in order. Raises `ProviderError`."""
        asked = urlencode({"email": self._contact})
        record, _ = records.fetch(self._outbound, f"{self._base}/{quote(doi, safe='')}?{asked}")
        if records.doi(record.get("doi")) != doi:
            raise ProviderError("wrong_work")
        places = record.get("oa_locations")
        if not isinstance(places, list):
            raise ProviderError("garbage")
        return tuple(map(_place, records.objects(places)[:_MOST_PLACES]))


def _place(location: Mapping[str, Any]) -> Place:
    address = location.get("url_for_pdf")
    is_usable = isinstance(address, str) and len(address) <= _LONGEST_ADDRESS and "\x00" not in address
    return Place(
        pdf_url=address.strip() if isinstance(address, str) and is_usable else "",
        license_source=records.line(location.get("license"))[:400],
        version=records.line(location.get("version"))[:60],
        host=records.line(location.get("host_type"))[:60],
        is_best=location.get("is_best") is True,
    )
