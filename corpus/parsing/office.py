"""Word, PowerPoint and Excel: the archive is looked at and made plain before Docling is even loaded."""

from __future__ import annotations

from pathlib import Path

from corpus.parsing import office_archive, office_rewrite
from corpus.parsing.blocks import ParsedDocument
from corpus.parsing.limits import ParseLimits
from corpus.parsing.media_types import DOCX, PPTX, XLSX


def parse_docx(path: Path, limits: ParseLimits) -> ParsedDocument:
    """Read a Word document."""
    facts = office_archive.inspect(path, DOCX)
    data = office_rewrite.plain(path)
    from corpus.parsing import docling_parser

    return docling_parser.read_docx(data, facts, limits)


def parse_pptx(path: Path, limits: ParseLimits) -> ParsedDocument:
    """Read a PowerPoint presentation."""
    facts = office_archive.inspect(path, PPTX)
    data = office_rewrite.plain(path)
    from corpus.parsing import docling_parser

    return docling_parser.read_pptx(data, facts, limits)


def parse_xlsx(path: Path, limits: ParseLimits) -> ParsedDocument:
    """Read an Excel workbook."""
    facts = office_archive.inspect(path, XLSX)
    data = office_rewrite.plain(path)
    from corpus.parsing import docling_parser

    return docling_parser.read_xlsx(data, facts, limits)
