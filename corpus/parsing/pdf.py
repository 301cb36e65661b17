"""PDF: the layout parser on pdfium's characters, and pypdf where pdfium cannot open the file."""

from __future__ import annotations

from pathlib import Path

from corpus.parsing import pdf_fallback, pdf_layout
from corpus.parsing.blocks import ParsedDocument, ParseFailure
from corpus.parsing.limits import ParseLimits


def parse(path: Path, limits: ParseLimits) -> ParsedDocument:
    """Read a PDF. One without usable text comes back without blocks and with `needs_ocr` in its quality."""
    try:
        return pdf_layout.parse(path, limits)
    except ParseFailure as failure:
        if failure.code != "damaged":
            raise
    return pdf_fallback.parse(path, limits)
