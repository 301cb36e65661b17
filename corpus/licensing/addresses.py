"""Licences given as an address. An address is read by its host and whole path, or not at all."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from corpus.licensing import creative_commons, spdx, tables
from corpus.licensing.readings import LicenseReading, unknown
from corpus.rights import LicenseClass

LONGEST = 2_000

_ADDRESS = re.compile(r"(?:https?://|www\.)[!-~]+|creativecommons\.org(?:/[!-~]*)?", re.IGNORECASE)
_LIKE_AN_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//|https?:|www\.|[\w-]+(?:\.[\w-]+)+/", re.IGNORECASE)
_TRAILING = "/.,;:)]>\"'"
_HOST = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_HARMLESS_QUERY = re.compile(r"(?:ref=[a-z0-9.-]{1,40}|lang=[a-z]{2,3}(?:[-_][a-z]{2,4})?)?", re.IGNORECASE)

_SCHEMES = re.compile(r"(?:https?:/{1,3})+", re.IGNORECASE)
_SPACED = re.compile(r"((?:https?://)?(?:www\.)?creativecommons\.org/)([a-z0-9./ _-]+)", re.IGNORECASE)

_MINING = re.compile(
    r"(?<![a-z])tdm(?:rep)?(?![a-z])|text[-_]?(?:and|&)?[-_]?(?:data)?[-_]?mining|data[-_]sharing[-_]mining"
)
# Words of addresses under which publishers keep their own terms.
_TERMS = re.compile(
    r"terms[-_]?(?:of[-_]?use|(?:and[-_]?)?conditions)|user[-_]?licen[sc]e|manuscript[-_]terms|aamterms"
    r"|free[-_]?access|chorus|copyright[-_]?(?:form|transfer)|rights[-_]?(?:and|&)[-_]?permissions|/rights$"
)
_STM = re.compile(r"doi\.org/10\.15223/policy-\d{3}")
_SPDX_PAGES = re.compile(
    r"(?:spdx\.org/licenses|opensource\.org/licen[sc]es?|choosealicense\.com/licenses)/([a-z0-9.+-]+?)(?:\.html|\.txt|\.json|\.php)?"
)

NO_SUCH_LICENCE = "Creative Commons has no licence at this address."
_NOT_AN_ADDRESS = "Not written as a plain address."
_NOT_KNOWN = "This address is not that of a known licence."


def looks_like_one(text: str) -> bool:
    """Whether `text` is meant as an address, however it is written."""
    return _LIKE_AN_ADDRESS.match(text) is not None and " " not in text


def with_spaces(text: str) -> LicenseReading | None:
    """Read an address of Creative Commons into whose path spaces came; None for anything else."""
    found = _SPACED.fullmatch(text)
    if found is None or len(text) > LONGEST:
        return None
    reading = read(found[1] + re.sub("[ /]*/[ /]*| +", lambda gap: "/" if "/" in gap[0] else "-", found[2]))
    return reading if reading.is_known else None


def read(text: str) -> LicenseReading:
    """Read an address. User names, ports, escapes and dots in the path make it unknown."""
    parts = _plain_parts(text)
    if parts is None:
        return unknown(_NOT_AN_ADDRESS)
    host = (parts.hostname or "").removeprefix("www.").replace("dx.doi.org", "doi.org")
    path = parts.path.rstrip(_TRAILING).lower()
    if host == "creativecommons.org":
        return _creative_commons(path, parts)
    return (
        _listed(host, path, parts)
        or _by_spdx(host, path, parts)
        or _restricted_by_its_words(host, path, parts)
        or unknown(_NOT_KNOWN)
    )


def _plain_parts(text: str) -> SplitResult | None:
    """Return the parts of an address, None unless it is one of plain characters and names only a host."""
    written = "https://" + _SCHEMES.sub("", text, count=1) if _SCHEMES.match(text) else text
    if len(text) > LONGEST or _ADDRESS.fullmatch(written) is None:
        return None
    written = written if written.startswith("https://") else f"https://{written}"
    try:
        parts = urlsplit(written)
        suspicious = parts.username is not None or parts.password is not None or parts.port is not None
    except ValueError:
        return None
    host = parts.netloc.lower()
    odd = suspicious or "@" in written or "\\" in written or "%" in written or _HOST.fullmatch(host) is None
    dots = any(piece in {".", ".."} for piece in parts.path.split("/")[:-1]) or ".." in parts.path
    return None if odd or dots else parts


def _creative_commons(path: str, parts: SplitResult) -> LicenseReading:
    pieces = [piece for piece in path.split("/") if piece]
    if parts.fragment or _HARMLESS_QUERY.fullmatch(parts.query) is None:
        return unknown(NO_SUCH_LICENCE)
    found = creative_commons.from_path(pieces)
    if found is not None:
        return found
    return unknown(NO_SUCH_LICENCE if len(pieces) > 1 else "The home page of the licences names none.")


def _listed(host: str, path: str, parts: SplitResult) -> LicenseReading | None:
    """Read by the table: the address itself, or a page below one of which everything is closed."""
    table, address = tables.addresses(), f"{host}{path}"
    fragment = parts.fragment.rstrip(_TRAILING).lower()
    exact = table.get(f"{address}#{fragment}" if fragment else address)
    if exact is not None and (not parts.query or not exact.reading().is_open):
        return exact.reading()
    pieces = address.split("/")
    for end in range(len(pieces), 0, -1):
        above = table.get("/".join(pieces[:end]))
        if above is not None and above.covers_below:
            return above.reading()
    return None


def _by_spdx(host: str, path: str, parts: SplitResult) -> LicenseReading | None:
    found = _SPDX_PAGES.fullmatch(f"{host}{path}")
    if found is None or parts.query or parts.fragment:
        return None
    return spdx.identifier(found[1])


def _restricted_by_its_words(host: str, path: str, parts: SplitResult) -> LicenseReading | None:
    words = f"{path}?{parts.query}".lower().rstrip("?")
    if _MINING.search(words) or _STM.fullmatch(f"{host}{path}"):
        return _restricted(
            "Terms for text and data mining, not a licence of the text.", "text and data mining"
        )
    if _TERMS.search(words):
        return _restricted("Terms of the publisher's own.", "terms of use")
    return None


def _restricted(reason: str, form: str) -> LicenseReading:
    return LicenseReading(LicenseClass.RESTRICTED, no_derivatives=False, reason=reason, matched_form=form)
