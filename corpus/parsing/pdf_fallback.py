"""PDF by pypdf: the text of each page, for files that pdfium does not open."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from pathlib import Path

from pypdf import PdfReader
from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

from corpus.normalise import WordForms, clean, one_line, unwrap
from corpus.parsing.blocks import Block, BlockKind, ParsedDocument, ParseFailure
from corpus.parsing.limits import ParseLimits
from corpus.parsing.media_types import PDF

PARSER = "pypdf 1"


def parse(path: Path, limits: ParseLimits) -> ParsedDocument:
    """Read the text of each page in the order pypdf finds it; no columns, no tables, no headings."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _document(PdfReader(path, strict=False), limits)
        except (FileNotDecryptedError, DependencyError) as error:
            raise ParseFailure("encrypted", "The PDF is encrypted and needs a password.") from error
        except (PyPdfError, ValueError, TypeError, KeyError, AttributeError, IndexError, OSError) as error:
            raise ParseFailure("damaged", "The PDF is damaged and cannot be opened.") from error


def _document(reader: PdfReader, limits: ParseLimits) -> ParsedDocument:
    if reader.is_encrypted and not reader.decrypt(""):
        raise ParseFailure("encrypted", "The PDF is encrypted and needs a password.")
    count = len(reader.pages)
    if count == 0:
        raise ParseFailure("damaged", "The PDF has no pages.")
    if count > limits.max_pages:
        raise ParseFailure(
            "too_many_pages", f"The PDF has {count:,} pages; the limit is {limits.max_pages:,}."
        )
    pages = [clean(page.extract_text() or "") for page in reader.pages]
    blocks = tuple(_blocks(pages))
    stated = reader.metadata.title if reader.metadata is not None else None
    quality: dict[str, float | int | str] = {"characters": sum(map(len, pages))}
    if not blocks:
        quality["needs_ocr"] = 1
    return ParsedDocument(
        blocks=blocks,
        parser=PARSER,
        media_type=PDF,
        title=one_line(stated or ""),
        page_count=count,
        warnings=("The PDF was read by the fallback parser, without its layout.",),
        quality=quality,
    )


def _blocks(pages: list[str]) -> Iterator[Block]:
    forms = WordForms(pages)
    for number, page in enumerate(pages, start=1):
        for paragraph in page.split("\n\n"):
            text = unwrap(paragraph.split("\n"), forms)
            if text:
                yield Block(BlockKind.PARAGRAPH, text, page=number)
