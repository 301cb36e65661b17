"""Normal forms of identifiers. One place for the whole product."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote

_DOI_PREFIX = re.compile(r"^(?:https?://)?(?:dx\.)?doi\.org/|^(?:info:)?doi:\s*", re.IGNORECASE)
# Unquoting may bring out characters that no text column takes.
_DOI = re.compile(r"10\.[0-9]{4,9}/[^\s\x00-\x1f\x7f\ud800-\udfff]+")
_BRACKETS = {")": "(", "]": "[", "}": "{", ">": "<"}


def normalise_doi(text: str) -> str | None:
    """Return the DOI in `text` in lower case without resolver or trailing punctuation, or None.

    >>> normalise_doi("HTTP://DX.DOI.ORG/10.1000/ABC.")
    '10.1000/abc'
    """
    doi = _DOI_PREFIX.sub("", unquote(text.strip())).strip()
    while doi and (doi[-1] in ".,;:'\"" or _unbalanced(doi)):
        doi = doi[:-1]
    return doi.lower() if _DOI.fullmatch(doi) else None


def _unbalanced(doi: str) -> bool:
    opening = _BRACKETS.get(doi[-1])
    return opening is not None and doi.count(doi[-1]) > doi.count(opening)


def fold(text: str) -> str:
    """Return `text` without case, diacritics and repeated spaces, for matching names."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    kept = "".join(char for char in decomposed if not unicodedata.combining(char))
    return " ".join(kept.split())
