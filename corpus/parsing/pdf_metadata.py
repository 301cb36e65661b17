"""What a PDF says about itself: its information dictionary, checked against its first page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from corpus.normalise import matching_form, one_line
from corpus.parsing.blocks import Block, BlockKind
from corpus.parsing.metadata import as_names, find_license
from corpus.parsing.pdf_blocks import Content
from corpus.parsing.references import find_doi

_NOT_A_TITLE = re.compile(
    r"(?:microsoft word|untitled|document\d*\b|slide \d|paper title|title|template|adobe photoshop)"
    r"|.*\.(?:docx?|tex|dvi|pdf|indd|qxd)$",
    re.IGNORECASE,
)
_PUBLISHED = re.compile(
    r"(?:published|copyright|\u00a9|\(c\)|accepted|proceedings|volume|vol\.)[^\n]{0,80}?\b((?:19|20)\d{2})\b",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"\[[^\]]*\]?|\([^)]*\)?")


@dataclass(frozen=True, slots=True)
class Facts:
    """The metadata of a PDF, each empty where it is not stated or cannot be believed."""

    title: str
    authors: tuple[str, ...]
    year: int | None
    doi: str
    license_statement: str


def collect(stated: dict[str, str], content: Content, running: Sequence[str]) -> Facts:
    """Return title, authors, year, DOI and licence statement."""
    first_page = _first_page(content.blocks)
    texts = [block.text for block in content.blocks if block.kind is not BlockKind.HEADING]
    opening = "\n".join([*dict.fromkeys(running), *first_page])
    return Facts(
        title=_title(one_line(stated.get("Title", "")), content.title, opening),
        authors=_authors(one_line(stated.get("Author", "")), opening),
        year=_year(opening),
        doi=_doi(stated, first_page, running),
        license_statement=find_license([*dict.fromkeys(running), *texts]),
    )


def _first_page(blocks: Sequence[Block]) -> list[str]:
    page = next((block.page for block in blocks if block.page is not None), None)
    return [block.text for block in blocks if block.page == page and block.text]


def _title(stated: str, largest: str, opening: str) -> str:
    """Return the stated title when the first page shows it, else the largest type of that page."""
    is_believable = len(stated.split()) > 1 and _NOT_A_TITLE.match(stated) is None
    if is_believable and _squeezed(stated) in _squeezed(opening):
        return stated
    return largest or (stated if is_believable else "")


def _authors(stated: str, opening: str) -> tuple[str, ...]:
    """Return the stated authors whom the first page names; a file's author is often its typist."""
    shown = _squeezed(opening)
    return tuple(
        name
        for name in as_names(_BRACKETED.sub("", stated))
        if len(name.split()) > 1 and _squeezed(name.split()[-1]) in shown
    )


def _squeezed(text: str) -> str:
    return "".join(char for char in matching_form(text).casefold() if char.isalnum())


def _year(opening: str) -> int | None:
    found = _PUBLISHED.search(opening[:20_000])
    return int(found[1]) if found is not None else None


def _doi(stated: dict[str, str], first_page: Sequence[str], running: Sequence[str]) -> str:
    """Return the document's own DOI: stated, in its running lines, or the only one of its first page."""
    own = next((doi for text in (*stated.values(), *running) if (doi := find_doi(text))), "")
    if own:
        return own
    shown = list(dict.fromkeys(doi for text in first_page if (doi := find_doi(text))))
    return shown[0] if len(shown) == 1 else ""
