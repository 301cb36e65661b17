"""What a person names a work by: an identifier in its normal form, or a title alone. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from answers.notebook.addresses import NoAddress, normalise_address
from corpus.bibliography.identifiers import arxiv_in, isbn_in, pmid_in
from corpus.identifiers import normalise_doi
from corpus.normalise import visible

DOI, ARXIV, PMID, ISBN, URL, TITLE = "doi", "arxiv", "pmid", "isbn", "url", "title"
KINDS = (DOI, ARXIV, PMID, ISBN, URL, TITLE)
LONGEST_TITLE = 500
LONGEST = 2_000
# They say what kind of name follows.
_PREFIX = re.compile(r"(doi|arxiv|pmid|isbn)(?:-1[03])?\s*[:/]?\s*(?=[\da-z])", re.IGNORECASE)
_BARE_ARXIV = re.compile(r"(?:\d{4}\.\d{4,5}|[a-z-]{2,20}(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?")
_ISBN_LIKE = re.compile(r"[\dX -]{1,30}", re.IGNORECASE)
_DIGITS = re.compile(r"[\dX]{10}|97[89]\d{10}", re.IGNORECASE)
_BY_HOST = re.compile(
    r"https?://(?:www\.)?(?:(?P<doi>(?:dx\.)?doi\.org/)|(?P<arxiv>(?:export\.)?arxiv\.org/(?:abs|pdf)/)"
    r"|(?P<pmid>pubmed\.ncbi\.nlm\.nih\.gov/|ncbi\.nlm\.nih\.gov/pubmed/))",
    re.IGNORECASE,
)
_REFUSED = {
    DOI: "{text!r} is not a DOI. A DOI looks like 10.1234/abc.",
    ARXIV: "{text!r} is not an arXiv number. One looks like 2101.00001 or hep-th/9901001.",
    PMID: "{text!r} is not a PubMed number. One has up to nine digits.",
    ISBN: "{text!r} is not an ISBN: it has 10 or 13 digits, of which the last checks the others.",
}


class NotNamed(ValueError):
    """What names no work, with the input and what would."""


@dataclass(frozen=True, slots=True)
class Named:
    """A work as a person named it. `kind` and `value` are empty when only the title is known."""

    kind: str
    value: str
    title: str = ""

    @property
    def identifier(self) -> str:
        """The identifier as one word, `doi:10.1234/abc`; empty for a title alone."""
        return f"{self.kind}:{self.value}" if self.kind else ""


def named(text: str, *, kind: str = "", title: str = "") -> Named:
    """Return what `text` names; of which kind it is says `kind`, or the text itself. Raises `NotNamed`.

    What looks like an identifier and is none is refused: a typing error must not become a title.
    """
    text, title = " ".join(visible(text).split()), " ".join(visible(title).split())
    if len(title) > LONGEST_TITLE:
        raise NotNamed(f"A title may have {LONGEST_TITLE} characters; this one has {len(title):,}.")
    if not text and not title:
        raise NotNamed("Name the work by a DOI, an arXiv number, an ISBN, an address or its title.")
    if len(text) > LONGEST:
        raise NotNamed(f"This is longer than {LONGEST:,} characters.")
    if not text:
        return Named("", "", title)
    kind = kind or _kind_of(text)
    if kind == TITLE:
        return _titled(title or text)
    value = _value(text, kind)
    if not value or len(value) > 500:
        raise NotNamed(_REFUSED[kind].format(text=text[:80]))
    return Named(kind, value, title)


def _titled(title: str) -> Named:
    if len(title) > LONGEST_TITLE:
        raise NotNamed(f"A title may have {LONGEST_TITLE} characters; this one has {len(title):,}.")
    if not any(char.isalnum() for char in title):
        raise NotNamed(f"{title!r} is no title.")
    return Named("", "", title)


def _kind_of(text: str) -> str:
    if text.startswith("10.") or normalise_doi(text) is not None:
        return DOI
    if "://" in text[:20] or (text.lower().startswith("www.") and " " not in text):
        host = _BY_HOST.match(text)
        return (host.lastgroup if host is not None else None) or URL
    prefix = _PREFIX.match(text)
    if prefix is not None and any(char.isdigit() for char in text):
        rest = text[prefix.end() :]
        name = prefix[1].lower()
        if _ISBN_LIKE.fullmatch(rest) if name == ISBN else " " not in rest:
            return name
    if _BARE_ARXIV.fullmatch(text):
        return ARXIV
    return ISBN if _DIGITS.fullmatch(re.sub(r"[ -]", "", text)) else TITLE


def _value(text: str, kind: str) -> str:
    if kind == URL:
        try:
            return normalise_address(text)
        except NoAddress as refusal:
            raise NotNamed(f"{text[:80]!r}: {refusal}") from None
    prefix = _PREFIX.match(text)
    bare = text if prefix is None else text[prefix.end() :]
    match kind:
        case "doi":
            return normalise_doi(text) or ""
        case "arxiv":
            return "" if " " in bare else arxiv_in(text) or arxiv_in(bare)
        case "pmid":
            return "" if " " in bare else pmid_in(text) or pmid_in(bare)
        case _:
            return isbn_in(bare) if _ISBN_LIKE.fullmatch(bare) else ""
