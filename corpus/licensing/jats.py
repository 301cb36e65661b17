"""The licence element of a JATS article: its type, address, references and words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from corpus.licensing import addresses, creative_commons, statements
from corpus.licensing.readings import LicenseReading, strictest, unknown


@dataclass(frozen=True, slots=True)
class JatsLicense:
    """One `<license>`: `license-type`, `xlink:href`, its `<ali:license_ref>`s with start, and its text."""

    type: str = ""
    href: str = ""
    references: tuple[tuple[str, date | None], ...] = ()
    text: str = ""


def read(element: JatsLicense, *, on: date) -> LicenseReading:
    """Read the element: all of its parts that say something must agree on whether the text is open.

    An address that is that of no licence (an author's page, say) says nothing.
    """
    begun = [url for url, start in element.references if start is None or start <= on]
    given = [addresses.read(url.strip()) for url in (element.href, *begun) if url.strip()]
    if any(reading.reason == addresses.NO_SUCH_LICENCE for reading in given):
        return unknown(addresses.NO_SUCH_LICENCE)
    words = statements.read(element.text)
    if not words.is_known and words.reason not in {statements.NAMES_NONE, statements.NOT_OF_THE_TEXT}:
        return words
    code = creative_commons.from_code(" ".join(element.type.lower().split()))
    known = [one for one in (*given, words, code) if one is not None and one.is_known]
    if len({reading.is_open for reading in known}) > 1:
        return unknown("The licence element both opens and reserves rights.")
    reading = strictest(known) if known else unknown("The licence element names no known licence.")
    return _unless_later(reading, element, on)


def _unless_later(reading: LicenseReading, element: JatsLicense, on: date) -> LicenseReading:
    """Withhold an open reading while a reference of the element says it begins on a later day."""
    later = [(start, url) for url, start in element.references if start is not None and start > on]
    if not later:
        return reading
    day, url = max(later)
    then = addresses.read(url.strip())
    held = unknown("The licence begins on a later day.") if reading.is_open else reading
    return replace(held, not_before=day, then=then.license_class) if then.is_open else held
