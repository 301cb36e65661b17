"""PDF by layout: columns in order, paragraphs, headings by type, tables; running matter left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium

from corpus.normalise import WordForms
from corpus.parsing import pdf_blocks, pdf_columns, pdf_furniture, pdf_metadata
from corpus.parsing.blocks import ParsedDocument, ParseFailure
from corpus.parsing.limits import ParseLimits
from corpus.parsing.media_types import PDF
from corpus.parsing.pdf_characters import read_page
from corpus.parsing.pdf_lines import to_lines
from corpus.parsing.pdf_paragraphs import Paragraph, stream_rows, to_paragraphs
from corpus.parsing.pdf_tables import Table
from corpus.parsing.pdf_tables_open import across, unruled
from corpus.parsing.pdf_tables_ruled import ruled
from corpus.parsing.pdf_types import Line, Page

PARSER = "pdf-layout 3"
_LARGEST_LOSS = 0.02
_FEWEST_LETTERS = 5
_LARGEST_UNMAPPED = 0.3


def parse(path: Path, limits: ParseLimits) -> ParsedDocument:
    """Read the document in reading order; ParseFailure names why it cannot be."""
    document = open_pdf(path)
    try:
        count = len(document)
        if count > limits.max_pages:
            raise ParseFailure(
                "too_many_pages", f"The PDF has {count:,} pages; the limit is {limits.max_pages:,}."
            )
        if count == 0:
            raise ParseFailure("damaged", "The PDF has no pages.")
        stated = document.get_metadata_dict()
        reading = _Reading()
        for index in range(count):
            reading.add(document, index)
            if reading.characters > limits.max_characters:
                raise ParseFailure(
                    "too_large", f"The PDF has more than {limits.max_characters:,} characters."
                )
    finally:
        document.close()
    return _document(reading, stated)


def open_pdf(path: Path) -> pypdfium2.PdfDocument:
    """Open the file; ParseFailure says why it cannot be."""
    try:
        return pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        if pdfium.FPDF_GetLastError() == pdfium.FPDF_ERR_PASSWORD or "password" in str(error).lower():
            raise ParseFailure("encrypted", "The PDF is encrypted and needs a password.") from error
        if "security" in str(error).lower():
            raise ParseFailure("encrypted", "The PDF is encrypted in a way that cannot be read.") from error
        raise ParseFailure("damaged", "The PDF is damaged and cannot be opened.") from error


@dataclass(slots=True)
class _Reading:
    """The pages read so far."""

    pages: list[Page] = field(default_factory=list)
    characters: int = 0
    unmapped: int = 0
    unreadable: int = 0

    def add(self, document: pypdfium2.PdfDocument, index: int) -> None:
        try:
            handle = document[index]
        except pypdfium2.PdfiumError:
            self.unreadable += 1
            return
        page = read_page(handle, index + 1)
        handle.close()
        self.pages.append(page)
        self.characters += page.characters
        self.unmapped += page.unmapped


@dataclass(slots=True)
class _Flow:
    """A page's columns in reading order, each with its paragraphs and tables."""

    page: Page
    parts: list[list[Paragraph | Table]]


def _document(reading: _Reading, stated: dict[str, str]) -> ParsedDocument:
    lines = {page.number: to_lines(page.spans) for page in reading.pages}
    furniture = pdf_furniture.find(
        [pdf_furniture.PageLines(page.number, page.height, lines[page.number]) for page in reading.pages]
    )
    running = [line.text for page in reading.pages for line in lines[page.number] if id(line) in furniture]
    flows = [
        _flow(page, [line for line in lines[page.number] if id(line) not in furniture])
        for page in reading.pages
    ]
    forms = WordForms(_texts(flows))
    content = pdf_blocks.build([(flow.page, flow.parts) for flow in flows], forms)
    quality = _quality(reading, content, running)
    count = len(reading.pages) + reading.unreadable
    is_unusable = _is_unusable(reading, content)
    if is_unusable:
        quality["needs_ocr"] = 1
    facts = pdf_metadata.collect(stated, content, running)
    return ParsedDocument(
        blocks=() if is_unusable else content.blocks,
        parser=PARSER,
        media_type=PDF,
        title=facts.title,
        authors=facts.authors,
        year=facts.year,
        doi=facts.doi,
        license_statement=facts.license_statement,
        page_count=count,
        references=() if is_unusable else content.references,
        warnings=tuple(_warnings(reading, quality, is_unusable=is_unusable)),
        quality=quality,
    )


def _flow(page: Page, lines: Sequence[Line]) -> _Flow:
    tables, rest = ruled(lines, page.rules, page.number)
    wide, rest = across(rest, page.number)
    items: list[Line | Table] = [*rest, *tables, *wide]
    parts = [_column(stream, page.number) for stream in pdf_columns.reading_order(items)]
    return _Flow(page, parts)


def _column(stream: Sequence[Line | Table], page: int) -> list[Paragraph | Table]:
    """Return the paragraphs of a column with its tables between them."""
    parts: list[Paragraph | Table] = []
    waiting: list[Line] = []
    for item in [*stream, None]:
        if isinstance(item, Line):
            waiting.append(item)
            continue
        for piece in unruled(stream_rows(waiting), page):
            parts.extend([piece] if isinstance(piece, Table) else to_paragraphs(piece, page))
        waiting = []
        if item is not None:
            parts.append(item)
    return parts


def _texts(flows: Sequence[_Flow]) -> Iterator[str]:
    for flow in flows:
        for column in flow.parts:
            yield "\n".join(
                line.text for part in column if isinstance(part, Paragraph) for line in part.lines
            )


def _is_unusable(reading: _Reading, content: pdf_blocks.Content) -> bool:
    letters = sum(char.isalpha() for block in content.blocks for char in block.text[:200])
    letters += sum(
        any(char.isalnum() for char in cell) for block in content.blocks for row in block.rows for cell in row
    )
    return letters < _FEWEST_LETTERS or reading.unmapped > _LARGEST_UNMAPPED * reading.characters


def _quality(
    reading: _Reading, content: pdf_blocks.Content, running: Sequence[str]
) -> dict[str, float | int | str]:
    """Return the character balance: what the pages hold, what was kept and what was left out on purpose."""
    furniture = sum(_visible(text) for text in running)
    rotated = (
        sum(_visible(text) for page in reading.pages for text in page.rotated) - content.rotated_characters
    )
    kept = content.characters
    expected = reading.characters - furniture - rotated
    return {
        "characters": reading.characters,
        "characters_kept": kept,
        "characters_running": furniture,
        "characters_rotated": rotated,
        "loss": round(max(0.0, 1 - kept / expected), 4) if expected > 0 else 0.0,
        "pages_without_text": sum(page.characters == 0 for page in reading.pages) + reading.unreadable,
    }


def _visible(text: str) -> int:
    return len("".join(text.split()))


def _warnings(
    reading: _Reading, quality: dict[str, float | int | str], *, is_unusable: bool
) -> Iterator[str]:
    if is_unusable:
        yield "The PDF holds no usable text; it needs character recognition (OCR)."
        return
    if float(quality["loss"]) > _LARGEST_LOSS:
        yield f"{float(quality['loss']):.1%} of the characters were lost while reading."
    if quality["pages_without_text"]:
        pages = len(reading.pages) + reading.unreadable
        yield f"{quality['pages_without_text']} of {pages} pages have no text."
    if reading.unmapped:
        yield f"{reading.unmapped} characters have no Unicode value and are shown as \ufffd."
