"""The grammar of Creative Commons licences: codes, addresses and names, every version and port.

What the grammar does not produce is not a licence. `cc-by-xyz` gives None, never the open licence it
begins like.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from corpus.licensing.readings import LicenseReading
from corpus.licensing.tables import jurisdictions
from corpus.rights import LicenseClass

VERSIONS = frozenset({"1.0", "2.0", "2.1", "2.5", "3.0", "4.0"})
_NEVER_PORTED = "4"
_FLAVOURS = frozenset({"international", "unported", "generic", "universal"})
_OLD_WITHOUT_BY = frozenset({"sa", "nd", "nc", "nc-sa", "nd-nc"})

_CODE = re.compile(
    r"(?:creative commons[ :-]*)?cc[ _/-]*by(?P<elements>(?:[ _/-]*(?:nc|nd|sa))*)"
    r"(?:[ _/-]*v?(?P<version>\d(?:\.\d)?))?"
    r"(?:[ _-]+(?P<port>(?!licen[sc]e)[a-z]+))?(?: licen[sc]e)?"
)
_ZERO = re.compile(
    r"(?:creative commons )?(?:cc[ _-]?0|cc[ _-]?zero|zero)(?P<version>[ _-]*v?\d(?:\.\d)?)?"
    r"(?: universal)?(?: \(cc0 1\.0\))?(?: public domain dedication| waiver| licen[sc]e)?"
)
_MARK = re.compile(r"(?:cc[ _-]?)?(?:pdm|public domain mark)(?P<version>[ _-]*v?\d(?:\.\d)?)?(?: universal)?")
_LANGUAGE = r"[a-z]{2,3}(?:[-_@][a-z]{2,8}){0,2}"
_PAGE = re.compile(rf"(?:deed|legalcode)(?:\.{_LANGUAGE})?(?:\.html)?|legalcode\.txt|rdf")

# The words of names, as they follow "Attribution".
ELEMENT = r"(?:non[ -]?commercial|share[ -]?a?like|no[ -]?deriv(?:ative)?s?(?: works?)?)"
_ELEMENT = re.compile(ELEMENT)
_FIRST_LETTERS = {"non": "nc", "sha": "sa", "no-": "nd", "no ": "nd", "nod": "nd"}


def from_code(text: str) -> LicenseReading | None:
    """Read a code in lower case such as "cc-by-nc 4.0", "ccbysa", "cc by 3.0 igo", "cc0-1.0"."""
    zero = _ZERO.fullmatch(text)
    if zero is not None and text != "zero":
        return _zero() if _plain(zero["version"]) in {"", "1", "1.0"} else None
    mark = _MARK.fullmatch(text)
    if mark is not None:
        return _mark() if _plain(mark["version"]) in {"", "1", "1.0"} else None
    code = _CODE.fullmatch(text)
    if code is None:
        return None
    return licence(re.findall("nc|nd|sa", code["elements"]), code["version"] or "", code["port"] or "")


def from_name(elements: str, version: str, flavour: str) -> LicenseReading | None:
    """Read the parts of a name: what stands after "Attribution", the version, the words after it."""
    parts = [_FIRST_LETTERS[found[0][:3]] for found in _ELEMENT.finditer(elements)]
    words = flavour.strip()
    by_name = {name: code for code, name in jurisdictions().items()}
    return licence(parts, version, by_name.get(words, words))


def from_path(path: Sequence[str]) -> LicenseReading | None:
    """Read the path of an address at creativecommons.org, in lower case, cut at its slashes."""
    match list(path):
        case ["licenses", "publicdomain", *rest] if _is_page(rest):
            return _dedicated()
        case [("licenses" | "license" | "licences" | "licence"), *pieces] if pieces:
            return _licence_path(pieces)
        case ["publicdomain", "zero", "1.0", *rest] if _is_page(rest):
            return _zero()
        case ["publicdomain", "mark", "1.0", *rest] if _is_page(rest):
            return _mark()
        case ["publicdomain", "certification", "1.0", "us", *rest] if _is_page(rest):
            return _dedicated()
    return None


def licence(
    elements: Sequence[str], version: str, port: str, *, attribution: bool = True
) -> LicenseReading | None:
    """Return the reading of the licence with these conditions, or None where there is no such licence."""
    conditions = frozenset(elements)
    number = f"{version}.0" if len(version) == 1 else version
    impossible = len(conditions) != len(elements) or {"sa", "nd"} <= conditions
    if impossible or not _exists(number, port):
        return None
    ordered = [name for name in ("nc", "nd", "sa") if name in conditions]
    form = " ".join(
        part for part in ("CC", "-".join(["BY"] * attribution + [n.upper() for n in ordered])) if part
    )
    label = " ".join(part for part in (form, number, "" if port in _FLAVOURS else port.upper()) if part)
    commercial = "nc" not in conditions
    return LicenseReading(
        LicenseClass.OPEN_COMMERCIAL if commercial else LicenseClass.OPEN_NONCOMMERCIAL,
        no_derivatives="nd" in conditions,
        reason=f"{label} {'allows' if commercial else 'restricts'} commercial use.",
        matched_form=label,
    )


def _exists(version: str, port: str) -> bool:
    """Whether version and port are ones that were issued. No port changes the conditions."""
    ported = bool(version) and port in jurisdictions() and not version.startswith(_NEVER_PORTED)
    return (not version or version in VERSIONS) and (not port or port in _FLAVOURS or ported)


def _licence_path(pieces: Sequence[str]) -> LicenseReading | None:
    """Read what stands after "licenses": a code, its version, port and page, with whatever between them."""
    kept = pieces[:-1] if len(pieces) > 1 and _PAGE.fullmatch(pieces[-1]) else pieces
    if len(kept) > 1 and kept[0] in _OLD_WITHOUT_BY and kept[1] == "1.0":
        port = kept[2] if len(kept) == 3 else ""
        return None if len(kept) > 3 else licence(kept[0].split("-"), "1.0", port, attribution=False)
    found = _CODE.fullmatch("cc-" + "-".join(kept).removeprefix("cc-"))
    if found is None or (len(kept) < len(pieces) and not found["version"]):
        return None
    # An address names its port between slashes; letters hung on the version are nothing that was issued.
    if found["port"] and found["port"] not in kept:
        return None
    return licence(re.findall("nc|nd|sa", found["elements"]), found["version"] or "", found["port"] or "")


def _is_page(rest: Sequence[str]) -> bool:
    """Say whether `rest` names nothing, or the page of a licence in some language."""
    return not rest or (len(rest) == 1 and _PAGE.fullmatch(rest[0]) is not None)


def _plain(version: str | None) -> str:
    return (version or "").strip(" _-v")


def _zero() -> LicenseReading:
    return _public("CC0 1.0", "CC0 waives all rights.")


def _mark() -> LicenseReading:
    return _public("Public Domain Mark 1.0", "Marked as free of known copyright.")


def _dedicated() -> LicenseReading:
    return _public("Public Domain Dedication", "Dedicated to the public domain.")


def _public(form: str, reason: str) -> LicenseReading:
    return LicenseReading(LicenseClass.PUBLIC, no_derivatives=False, reason=reason, matched_form=form)
