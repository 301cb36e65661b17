"""Word, PowerPoint, Excel and LaTeX through Docling's readers of markup, which need no models.

Docling takes seconds to load and is an extra: this module is loaded only in the parsing process.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

from docling.datamodel.base_models import InputFormat
from docling.datamodel.document import InputDocument
from docling_core.types.doc import DoclingDocument

from corpus.parsing import docling_blocks
from corpus.parsing.blocks import Block, BlockKind, ParsedDocument, ParseFailure
from corpus.parsing.decoding import read_text
from corpus.parsing.docling_blocks import Content
from corpus.parsing.limits import ParseLimits
from corpus.parsing.media_types import DOCX, LATEX, PPTX, XLSX
from corpus.parsing.metadata import find_license
from corpus.parsing.office_archive import Facts
from corpus.parsing.references import find_doi, split_reference_list

PARSER = f"docling {version('docling-slim')}"
_LARGEST_LOSS = 0.02
_FRONT_BLOCKS = 15
_DOI_LINE = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi\b)", re.IGNORECASE)
# What programs call documents nobody has named.
_NO_TITLE = re.compile(
    r"(?:untitled|microsoft (?:word|excel|powerpoint)\b.*|powerpoint presentation"
    r"|(?:document|presentation|book|workbook|slide|title)\s?\d*)",
    re.IGNORECASE,
)
# Spaces that Docling's LaTeX reader would drop; an address may hold a tilde.
_LATEX_SPACE = re.compile(r"(?<!\\)\\[,;:]|(?<![\\/])~")


def read_docx(data: bytes, facts: Facts, limits: ParseLimits) -> ParsedDocument:
    """Read a Word document. The loss counts the characters of its text that are in no block."""
    from docling.backend.msword_backend import MsWordDocumentBackend

    content = docling_blocks.read(_convert(data, InputFormat.DOCX, MsWordDocumentBackend))
    return to_document(content, DOCX, facts, limits)


def read_pptx(data: bytes, facts: Facts, limits: ParseLimits) -> ParsedDocument:
    """Read a presentation: slides are pages, titles headings, speakers' notes a section of their slide."""
    from docling.backend.mspowerpoint_backend import MsPowerpointDocumentBackend

    converted = _convert(data, InputFormat.PPTX, MsPowerpointDocumentBackend)
    content = docling_blocks.read(converted, has_pages=True, keeps_notes=True)
    return replace(to_document(content, PPTX, facts, limits), page_count=len(converted.pages) or None)


def read_xlsx(data: bytes, facts: Facts, limits: ParseLimits) -> ParsedDocument:
    """Read a workbook: sheets are headings, what stands together is a table. Charts repeat their cells."""
    from docling.backend.msexcel_backend import MsExcelDocumentBackend
    from docling.datamodel.backend_options import MsExcelBackendOptions

    options = MsExcelBackendOptions(parse_charts=False)
    content = docling_blocks.read(_convert(data, InputFormat.XLSX, MsExcelDocumentBackend, options))
    return to_document(content, XLSX, facts, limits)


def parse_latex(path: Path, limits: ParseLimits) -> ParsedDocument:
    """Read a LaTeX source alone: files it includes are not looked for."""
    from docling.backend.latex_backend import LatexDocumentBackend

    source, warnings = read_text(path, limits)
    data = _LATEX_SPACE.sub(" ", source).encode("utf-8", "replace")
    content = docling_blocks.read(_convert(data, InputFormat.LATEX, LatexDocumentBackend))
    content.blocks = [_with_header(block) for block in content.blocks]
    document = to_document(content, LATEX, Facts(), limits)
    return replace(document, warnings=warnings + document.warnings)


def _convert(data: bytes, kind: InputFormat, backend: Any, options: Any = None) -> DoclingDocument:
    """Return Docling's document. A stream has no folder, so nothing beside the file can be read."""
    opened = InputDocument(
        path_or_stream=BytesIO(data),
        format=kind,
        backend=partial(backend, options=options) if options else backend,
        filename=f"document.{kind.value}",
    )
    if not opened.valid:
        raise ParseFailure("damaged", "The document cannot be opened.")
    converted: DoclingDocument = opened._backend.convert()  # as its pipeline does
    return converted


def to_document(content: Content, media_type: str, facts: Facts, limits: ParseLimits) -> ParsedDocument:
    """Return the document that holds `content`, with what it states itself."""
    characters = sum(map(_characters, content.blocks))
    if characters > limits.max_characters:
        raise ParseFailure("too_large", f"The document has more than {limits.max_characters:,} characters.")
    if not content.blocks:
        raise ParseFailure("no_text", "The document contains no text.")
    kept, references = split_reference_list(content.blocks)
    quality: dict[str, float | int | str] = {
        "characters": characters,
        "tables": sum(block.kind is BlockKind.TABLE for block in content.blocks),
        "pictures": content.pictures,
    }
    if facts.characters:
        quality["loss"] = round(max(0.0, 1 - characters / facts.characters), 4)
    return ParsedDocument(
        blocks=kept,
        parser=PARSER,
        media_type=media_type,
        title=_title(content, facts, media_type),
        authors=tuple(content.authors) or facts.authors,
        doi=_doi(content.blocks),
        language=facts.language,
        license_statement=find_license(block.text for block in kept),
        references=references,
        warnings=tuple(_warnings(content, quality)),
        quality=quality,
    )


def _characters(block: Block) -> int:
    cells = sum(len("".join(cell.split())) for row in block.rows for cell in row)
    return len("".join(block.text.split())) + cells


def _title(content: Content, facts: Facts, media_type: str) -> str:
    if content.title:
        return content.title
    if facts.title and not _NO_TITLE.fullmatch(facts.title):
        return facts.title
    first = content.blocks[0]
    return first.text if media_type != XLSX and first.kind is BlockKind.HEADING and first.level == 1 else ""


def _doi(blocks: list[Block]) -> str:
    """Return the DOI that a line of its own states in front; one inside the text is somebody else's."""
    lines = (block.text for block in blocks[:_FRONT_BLOCKS] if _DOI_LINE.match(block.text))
    return next(filter(None, map(find_doi, lines)), "")


def _with_header(block: Block) -> Block:
    """Take the first row of a LaTeX table for its header: the markup does not tell them apart."""
    rows = tuple(row for row in block.rows if any(row))
    if block.kind is not BlockKind.TABLE or len(rows) < 2 or block.header_rows:
        return block
    return replace(block, rows=rows, header_rows=1)


def _warnings(content: Content, quality: dict[str, float | int | str]) -> list[str]:
    warnings = []
    if float(quality.get("loss", 0)) > _LARGEST_LOSS:
        warnings.append(f"{float(quality['loss']):.1%} of the characters were lost while reading.")
    if content.hidden:
        warnings.append("Hidden sheets were left out.")
    return warnings
