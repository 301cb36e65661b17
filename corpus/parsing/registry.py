"""Choose the parser for a file and run it: the one door to parsing."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

from django.conf import settings

from corpus.parsing import media_types, sandbox
from corpus.parsing.blocks import ParsedDocument, ParseFailure
from corpus.parsing.limits import DEFAULT_LIMITS, ParseLimits

__all__ = ["SUPPORTED_EXTENSIONS", "ParseFailure", "ParseLimits", "ParsedDocument", "parse"]

SUPPORTED_EXTENSIONS = frozenset(media_types.BY_EXTENSION)


def parse(
    path: Path, *, limits: ParseLimits = DEFAULT_LIMITS, media_type: str | None = None, parser: str = ""
) -> ParsedDocument:
    """Return what `path` contains, read in a killable process of its own within `limits`.

    `media_type` stands in for the extension where a file has none of its own, and `parser` asks for another
    than the usual one. PDFs are read by Docling where the settings name its models. Raises ParseFailure with
    one of the stable codes: missing_file, empty_file, too_large, unsupported_file_type, wrong_signature,
    encrypted, damaged, too_many_pages, nested_too_deep, no_text, unsafe_archive, macros, parser_missing,
    parser_unsuitable, time_limit, memory_limit.
    A PDF without usable text is returned with no blocks and `quality["needs_ocr"]` set to 1.
    """
    _check_size(path, limits)
    kind = media_types.detect(path, declared=media_type)
    models = str(settings.DOCLING_ARTIFACTS_PATH or "")
    if models and kind == media_types.PDF and not parser:
        return _with_models(path.resolve(), limits, models)
    document = sandbox.run(path.resolve(), media_type=kind, limits=limits, parser=parser, models=models)
    return document if document.media_type == kind else replace(document, media_type=kind)


def _with_models(path: Path, limits: ParseLimits, models: str) -> ParsedDocument:
    """Read a PDF with Docling, and with the usual parser when Docling cannot; the document says so."""
    try:
        return sandbox.run(path, media_type=media_types.PDF, limits=limits, parser="docling", models=models)
    except ParseFailure as failure:
        if failure.code not in ("damaged", "parser_missing", "memory_limit"):
            raise
        reason = f"Docling did not read it ({failure.code})."
    document = sandbox.run(path, media_type=media_types.PDF, limits=limits)
    return replace(document, warnings=(*document.warnings, reason))


def _check_size(path: Path, limits: ParseLimits) -> None:
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ParseFailure("missing_file", "The file does not exist.") from error
    except (OSError, ValueError) as error:
        raise ParseFailure("missing_file", "The file cannot be reached.") from error
    if not stat.S_ISREG(status.st_mode):
        raise ParseFailure("missing_file", "The path is not a regular file.")
    if status.st_size == 0:
        raise ParseFailure("empty_file", "The file has no content (0 bytes).")
    if status.st_size > limits.max_bytes:
        size, limit = status.st_size / 1e6, limits.max_bytes / 1e6
        raise ParseFailure("too_large", f"The file has {size:,.1f} MB; the limit is {limit:,.1f} MB.")
