"""From a file to a document that is ready to be stored: parsed, cut, identified. No database."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from corpus.chunking import ChunkingLimits, Passage, chunk
from corpus.gateways.embedding import count_tokens
from corpus.identifiers import normalise_doi
from corpus.identity import MAX_PASSAGES, content_sha256
from corpus.language import language_of
from corpus.manifest import Described, Entry
from corpus.normalise import one_line
from corpus.parsing.blocks import ParsedDocument, ParseFailure
from corpus.parsing.media_types import PPTX, of_name
from corpus.parsing.registry import ParseLimits, parse
from corpus.rights import LicenseClass

_NO_DERIVATIVES = re.compile(r"no[ -]?deriv|\bby(?:-nc)?-nd\b", re.IGNORECASE)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?![A-Za-z])")
_FIRST_YEAR, _LAST_YEAR = 1000, 2100


@dataclass(frozen=True, slots=True)
class Metadata:
    """What will stand on the document: what was declared first, then what the file states."""

    title: str
    authors: tuple[str, ...]
    year: int | None
    doi: str
    journal: str
    url: str
    language: str
    license_class: LicenseClass
    license_source: str
    rights_statement: str
    no_derivatives: bool
    version_label: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document before it is stored. Without passages it needs OCR."""

    entry: Entry
    file_sha256: str
    content_sha256: str
    metadata: Metadata
    parsed: ParsedDocument
    passages: tuple[Passage, ...]
    chunking: ChunkingLimits
    # What it took to get here, where another stage goes on with it.
    seconds: float = 0.0

    @property
    def needs_ocr(self) -> bool:
        return not self.passages

    def without_blocks(self) -> Prepared:
        """Return it without the blocks, which nothing needs once they are passages."""
        return replace(self, parsed=replace(self.parsed, blocks=()))


def prepare(entry: Entry, *, file_sha256: str, chunking: ChunkingLimits, limits: ParseLimits) -> Prepared:
    """Parse and cut the file of `entry`; raise `ParseFailure` for one that cannot be taken in.

    A file whose text cannot be read is identified by its bytes instead of its words.
    """
    # A stored original has no extension: its kind follows from what it was called.
    media_type = of_name(entry.file_name) if entry.file_name else None
    parsed = parse(entry.path, limits=limits, media_type=media_type, parser=entry.described.parser)
    metadata = metadata_of(entry.described, parsed, Path(entry.original_name))
    if parsed.quality.get("needs_ocr"):
        return Prepared(entry, file_sha256, file_sha256, metadata, parsed, (), chunking)
    passages = chunk(
        parsed.blocks,
        title=metadata.title,
        count_tokens=count_tokens,
        limits=chunking,
        has_slides=parsed.media_type == PPTX,
    )
    if not passages:
        raise ParseFailure("no_text", "The file holds no text that could be found or quoted.")
    if len(passages) > MAX_PASSAGES:
        raise ParseFailure(
            "too_many_passages", f"The file makes {len(passages):,} passages; {MAX_PASSAGES:,} is the limit."
        )
    identity = content_sha256(parsed.blocks)
    return Prepared(entry, file_sha256, identity, metadata, parsed, passages, chunking)


def metadata_of(described: Described, parsed: ParsedDocument, path: Path) -> Metadata:
    """Return the document's metadata. A declaration wins over the file; the file never sets a class."""
    statement = parsed.license_statement.strip()
    source = described.license_source or one_line(statement)[:4_000]
    return Metadata(
        title=described.title or one_line(parsed.title)[:1_000] or _readable_name(path),
        authors=described.authors or tuple(name for name in map(one_line, parsed.authors) if name),
        year=described.year or _plausible_year(parsed.year),
        doi=described.doi or _plausible_doi(parsed.doi),
        journal=described.journal or one_line(parsed.journal)[:500],
        url=described.url,
        language=described.language or _language(parsed),
        license_class=described.license_class or LicenseClass.UNKNOWN,
        license_source=source,
        rights_statement=statement,
        no_derivatives=bool(_NO_DERIVATIVES.search(f"{source}\n{statement}")),
        version_label=described.version,
    )


def _readable_name(path: Path) -> str:
    return one_line(path.stem.replace("_", " "))[:1_000] or "Untitled"


def _plausible_year(year: int | None) -> int | None:
    return year if year is not None and _FIRST_YEAR <= year <= _LAST_YEAR else None


def _plausible_doi(doi: str) -> str:
    return doi.strip() if len(doi) <= 500 and normalise_doi(doi) else ""


def _language(parsed: ParsedDocument) -> str:
    stated = _LANGUAGE.match(parsed.language.strip())
    return stated[0].lower() if stated else language_of(block.text for block in parsed.blocks)
