"""Which places of an open work may be fetched from: an explicit licence and a direct PDF. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from corpus.licensing import normalise
from corpus.rights import LicenseClass

MOST_PLACES = 4
_VERSIONS = ("publishedVersion", "acceptedVersion", "submittedVersion")


class Place(Protocol):
    """A place as Unpaywall has it."""

    @property
    def pdf_url(self) -> str: ...
    @property
    def license_source(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def is_best(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Allowed:
    """A place that may be fetched from, with the licence as it is stated there and what that is read as."""

    url: str
    license_source: str
    license_class: LicenseClass
    version: str
    host: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "url": self.url,
            "license_source": self.license_source,
            "license_class": self.license_class.value,
            "version": self.version,
            "host": self.host,
        }


@dataclass(frozen=True, slots=True)
class Choice:
    """The places that may be fetched from, the best first, or the name of why there is none."""

    places: tuple[Allowed, ...]
    refusal: str = ""


def choose(places: Sequence[Place]) -> Choice:
    """Return the places with an explicit open licence and a direct PDF.

    The licence has to be stated for the very place: one of a place says nothing of another. Versions of
    record come first, then what the index calls best, then its order.
    """
    if not places:
        return Choice((), "not_open_access")
    licensed = [(place, normalise(place.license_source)) for place in places if place.license_source]
    explicit = [(place, reading) for place, reading in licensed if reading.is_open]
    if not explicit:
        return Choice((), "no_explicit_license")
    direct = [(place, reading) for place, reading in explicit if place.pdf_url]
    if not direct:
        return Choice((), "no_direct_pdf")
    ranked = sorted(direct, key=lambda pair: (_rank(pair[0].version), not pair[0].is_best))
    return Choice(
        tuple(
            Allowed(place.pdf_url, place.license_source, reading.license_class, place.version, place.host)
            for place, reading in ranked[:MOST_PLACES]
        )
    )


def _rank(version: str) -> int:
    return _VERSIONS.index(version) if version in _VERSIONS else len(_VERSIONS)
