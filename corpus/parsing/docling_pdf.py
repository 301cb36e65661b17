"""PDF through Docling and its layout models, for whoever has put them there. Nothing is downloaded."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from docling.datamodel.base_models import ConversionStatus, InputFormat
from docling.datamodel.pipeline_options import PdfPipelineOptions
from docling.document_converter import DocumentConverter, PdfFormatOption

from corpus.parsing import docling_blocks, pdf_layout
from corpus.parsing.blocks import ParsedDocument, ParseFailure
from corpus.parsing.docling_parser import PARSER, to_document
from corpus.parsing.limits import ParseLimits
from corpus.parsing.media_types import PDF
from corpus.parsing.office_archive import Facts


def parse(path: Path, limits: ParseLimits) -> ParsedDocument:
    """Read a PDF. One without usable text comes back without blocks and with `needs_ocr` in its quality."""
    pages = _count_pages(path, limits)
    converter = DocumentConverter(
        allowed_formats=[InputFormat.PDF],
        format_options={InputFormat.PDF: PdfFormatOption(pipeline_options=pipeline_options())},
    )
    result = converter.convert(path, raises_on_error=False, max_num_pages=limits.max_pages)
    if result.status is not ConversionStatus.SUCCESS:
        raise ParseFailure("damaged", "Docling cannot read the PDF.")
    content = docling_blocks.read(result.document, has_pages=True, has_boxes=True)
    if not content.blocks:
        return ParsedDocument((), PARSER, PDF, page_count=pages, quality={"needs_ocr": 1})
    document = to_document(content, PDF, Facts(), limits)
    return replace(document, page_count=pages)


def pipeline_options() -> PdfPipelineOptions:
    """Return what Docling is to do: layout and tables by its models, no OCR, nothing from the network."""
    return PdfPipelineOptions(
        artifacts_path=os.environ["DOCLING_ARTIFACTS_PATH"],
        do_ocr=False,
        do_table_structure=True,
        enable_remote_services=False,
        allow_external_plugins=False,
    )


def _count_pages(path: Path, limits: ParseLimits) -> int:
    """Open the file as every PDF is, so that the same reasons stop it, and count its pages."""
    document = pdf_layout.open_pdf(path)
    try:
        count = len(document)
    finally:
        document.close()
    if count > limits.max_pages:
        raise ParseFailure(
            "too_many_pages", f"The PDF has {count:,} pages; the limit is {limits.max_pages:,}."
        )
    return count
