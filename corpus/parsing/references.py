"""The reference list of a document: recognised by its heading, taken out of the evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from corpus.identifiers import normalise_doi
from corpus.parsing.blocks import Block, BlockKind, Reference

_HEADING = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,2})?\.?\s+|[IVX]{1,5}\.\s+|[A-Z]\.\s+)?"
    r"(?:references?(?:\s+(?:cited|and\s+notes))?|bibliography|literature(?:\s+cited)?|works\s+cited|cited\s+literature)"
    r"\s*[.:]?",
    re.IGNORECASE,
)
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+")
_ENTRY_NUMBER = re.compile(r"\A(?:\[\d{1,4}\]|\(\d{1,4}\)|\d{1,4}\.)\s+")


def is_reference_heading(text: str) -> bool:
    """Whether `text` is the heading of a reference list ("References", "6. Literature cited")."""
    return len(text) < 60 and _HEADING.fullmatch(text.strip()) is not None


def split_reference_list(blocks: Sequence[Block]) -> tuple[tuple[Block, ...], tuple[Reference, ...]]:
    """Return the blocks without the sections that are reference lists, and those lists' entries.

    A list ends at the next heading of its own level or above. A document that would have no other block
    left keeps them all: a bibliography may be the document.
    """
    kept: list[Block] = []
    entries: list[Block] = []
    level = 0
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            if is_reference_heading(block.text):
                level = block.level
                continue
            if level and block.level <= level:
                level = 0
            if level:
                continue
        (entries if level else kept).append(block)
    if not any(block.kind is not BlockKind.HEADING for block in kept):
        return tuple(blocks), ()
    return tuple(kept), to_references(block.text for block in entries)


def to_references(entries: Iterable[str]) -> tuple[Reference, ...]:
    """Return the entries as references, without their list numbers and with the DOI each names."""
    cleaned = (_ENTRY_NUMBER.sub("", entry.strip(), count=1) for entry in entries)
    return tuple(Reference(text=text, doi=find_doi(text)) for text in cleaned if text)


def find_doi(text: str) -> str:
    """Return the first DOI in `text` in its normal form, or the empty string."""
    found = _DOI.search(text)
    return (normalise_doi(found[0]) or "") if found is not None else ""
