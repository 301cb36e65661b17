"""Identifiers of works as libraries write them, in their normal forms. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

from corpus.identifiers import normalise_doi

_LONGEST = 2_000
_LONGEST_DOI = 500
_ARXIV = re.compile(
    r"(?:^|arxiv\s*[:/]\s*|arxiv\.org/(?:abs|pdf)/)"
    r"(?P<id>\d{4}\.\d{4,5}|[a-z-]{2,20}(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?(?:\.pdf)?(?=$|[\s\])},;?#])",
    re.IGNORECASE,
)
_PMID = re.compile(
    r"(?:^|PMID\s*:?\s*|pubmed(?:\.ncbi\.nlm\.nih\.gov)?/)0*([1-9]\d{0,8})(?=$|[\s\];,/])", re.I
)
_ISBN = re.compile(r"(?<![\dX])(?:97[89][ -]?)?(?:\d[ -]?){9}[\dX](?![\dX])", re.IGNORECASE)
_DOI_WORD = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|\bdoi:\s*)?\b10\.\d{4,9}/\S+", re.IGNORECASE)


class Identifier(NamedTuple):
    """What kind of identifier, and its normal form."""

    kind: str
    value: str

    @property
    def beyond_doi(self) -> str:
        """The identifier as one word, or nothing for a DOI, which has a place of its own everywhere."""
        return "" if self.kind == "doi" else f"{self.kind}:{self.value}"


def doi_in(text: str) -> str:
    """Return the first DOI in `text` as given, without resolver and trailing marks, or nothing.

    >>> doi_in("see https://doi.org/10.1000/ABC.")
    '10.1000/ABC'
    """
    head = text[:_LONGEST].strip()
    doi = normalise_doi(head)
    if doi is None:
        found = _DOI_WORD.search(head)
        head = found[0] if found is not None else ""
        doi = normalise_doi(head)
    if doi is None or len(doi) > _LONGEST_DOI:
        return ""
    written = unquote(head)
    start = written.lower().find(doi)
    given = written[start : start + len(doi)] if start >= 0 else doi
    return given if given.lower() == doi else doi


def arxiv_in(text: str) -> str:
    """Return the arXiv number in `text` without its version, or nothing."""
    found = _ARXIV.search(text[:_LONGEST].strip())
    return found["id"].lower() if found is not None else ""


def pmid_in(text: str) -> str:
    """Return the PubMed number in `text`, or nothing."""
    found = _PMID.search(text[:_LONGEST].strip())
    return found[1] if found is not None else ""


def isbn_in(text: str) -> str:
    """Return the first ISBN in `text` whose check digit is right, with 13 digits, or nothing."""
    for found in _ISBN.finditer(text[:_LONGEST]):
        digits = re.sub(r"[ -]", "", found[0]).upper()
        if len(digits) == 13 and digits.isdigit() and _check_13(digits[:12]) == digits[12]:
            return digits
        if len(digits) == 10 and _check_10(digits[:9]) == digits[9]:
            body = f"978{digits[:9]}"
            return body + _check_13(body)
    return ""


def _check_13(body: str) -> str:
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(body))
    return str(-total % 10)


def _check_10(body: str) -> str:
    total = sum(int(digit) * (10 - place) for place, digit in enumerate(body))
    rest = -total % 11
    return "X" if rest == 10 else str(rest)
