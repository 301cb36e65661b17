"""What kind of file this is, by its extension and by its first bytes, which must agree."""

from __future__ import annotations

import codecs
from pathlib import Path, PurePath

from corpus.parsing.blocks import ParseFailure

PDF = "application/pdf"
MARKDOWN = "text/markdown"
HTML = "text/html"
JATS = "application/jats+xml"
TEXT = "text/plain"
LATEX = "text/x-tex"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
OFFICE = frozenset({DOCX, PPTX, XLSX})

BY_EXTENSION = {
    ".pdf": PDF,
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".xml": JATS,
    ".nxml": JATS,
    ".jats": JATS,
    ".txt": TEXT,
    ".text": TEXT,
    ".tex": LATEX,
    ".docx": DOCX,
    ".pptx": PPTX,
    ".xlsx": XLSX,
}
SUPPORTED = frozenset(BY_EXTENSION.values())
_ALIASES = {
    "application/xhtml+xml": HTML,
    "application/xml": JATS,
    "text/xml": JATS,
    "text/x-markdown": MARKDOWN,
    "application/x-tex": LATEX,
    "application/x-latex": LATEX,
    "text/x-latex": LATEX,
}

_HEAD_BYTES = 4_096
_PDF_WINDOW = 1_024
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_ZIP = b"PK\x03\x04"
_BINARY_SIGNATURES = (
    (_ZIP, "a ZIP archive or Office document"),
    (b"PK\x05\x06", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (_OLD_OFFICE, "an old Office document"),
    (b"{\\rtf", "an RTF document"),
    (b"%!PS", "a PostScript file"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"SQLite format 3", "a database"),
)
_CONTROLS = bytes([*range(9), *range(14, 27), *range(28, 32)])
_WIDE_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_NAMES = {
    PDF: "a PDF",
    HTML: "an HTML page",
    JATS: "an XML document",
    TEXT: "text",
    MARKDOWN: "Markdown",
    LATEX: "LaTeX",
    DOCX: "a Word document",
    PPTX: "a PowerPoint presentation",
    XLSX: "an Excel workbook",
}


def detect(path: Path, *, declared: str | None = None) -> str:
    """Return the media type of `path`, which its extension (or `declared`) and its content agree on.

    Raises ParseFailure: unsupported_file_type when no parser reads that extension, wrong_signature when
    the content is something else than the extension says, encrypted for Office documents with a password.
    What an Office document's archive holds is looked at by its parser, in the killable process.
    """
    expected = _expected(path, declared)
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if expected == PDF:
        _require_pdf(head)
        return PDF
    if expected in OFFICE:
        _require_zip(path, head, expected)
        return expected
    found = _text_kind(head)
    if expected == JATS and found not in (JATS, HTML):
        raise _wrong(f"The file is named like XML but contains {_NAMES[found]}.")
    return found if expected in (JATS, HTML) and found in (JATS, HTML) else expected


def _expected(path: Path, declared: str | None) -> str:
    if declared is not None:
        wanted = declared.partition(";")[0].strip().lower()
        wanted = _ALIASES.get(wanted, wanted)
        if wanted not in SUPPORTED:
            raise ParseFailure("unsupported_file_type", f"No parser reads the media type {wanted[:80]!r}.")
        return wanted
    return of_name(path.name)


def of_name(name: str) -> str:
    """Return the media type that a file's name announces; raise ParseFailure when no parser reads it."""
    suffix = PurePath(name).suffix
    expected = BY_EXTENSION.get(suffix.lower())
    if expected is None:
        known = ", ".join(sorted(BY_EXTENSION))
        raise ParseFailure(
            "unsupported_file_type",
            f"No parser reads {suffix[:20] or 'a file without extension'!r}; {known} are read.",
        )
    return expected


def _require_pdf(head: bytes) -> None:
    if b"%PDF-" in head[:_PDF_WINDOW]:
        return
    kind = _binary_kind(head) or _NAMES[_markup_kind(head)]
    raise _wrong(f"The file is named like a PDF but contains {kind}.")


def _require_zip(path: Path, head: bytes, expected: str) -> None:
    if head.startswith(_ZIP):
        return
    name = name_of(expected)
    if head.startswith(_OLD_OFFICE):
        if _has_password(path, head):
            raise ParseFailure("encrypted", "The document is encrypted and needs a password.")
        raise _wrong(f"The file is named like {name} but is in the format of Office before 2007.")
    kind = _binary_kind(head) or _NAMES[PDF if head.lstrip()[:5] == b"%PDF-" else _markup_kind(head)]
    raise _wrong(f"The file is named like {name} but contains {kind}.")


def _has_password(path: Path, head: bytes) -> bool:
    """Whether an old container only wraps an encrypted new document, by the first names it lists."""
    sector = 1 << min(int.from_bytes(head[30:32], "little"), 12)
    with path.open("rb") as file:
        file.seek((int.from_bytes(head[48:52], "little") + 1) * sector)
        return "EncryptedPackage".encode("utf-16-le") in file.read(_HEAD_BYTES)


def name_of(media_type: str) -> str:
    """Return what people call a file of this type, with its article."""
    return _NAMES[media_type]


def _text_kind(head: bytes) -> str:
    if head.lstrip()[:5] == b"%PDF-":
        raise _wrong("The file is named like text but contains a PDF.")
    kind = _binary_kind(head)
    if kind is not None:
        raise _wrong(f"The file is named like text but contains {kind}.")
    return _markup_kind(head)


def _binary_kind(head: bytes) -> str | None:
    for signature, name in _BINARY_SIGNATURES:
        if head.startswith(signature) and (signature != b"MZ" or b"\x00" in head):
            return name
    is_wide_text = head.startswith(_WIDE_BOMS) or _looks_like_bare_utf16(head)
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return "binary data" if not is_wide_text and controls * 100 > len(head) else None


def _looks_like_bare_utf16(head: bytes) -> bool:
    """Whether every second byte is mostly zero: UTF-16 of a western language without its mark."""
    half = len(head) // 2
    return half >= 8 and max(head[0::2].count(0), head[1::2].count(0)) > half * 0.7


def _markup_kind(head: bytes) -> str:
    text = _without_bom(head).lstrip().lower()
    if not text.startswith(b"<"):
        return TEXT
    if b"<html" in text or b"<!doctype html" in text:
        return HTML
    if text.startswith(b"<?xml") or b"<!doctype article" in text or b"<article" in text:
        return JATS
    return HTML if text.startswith((b"<head", b"<body", b"<div", b"<p", b"<meta", b"<title")) else TEXT


def _without_bom(head: bytes) -> bytes:
    if head.startswith(_WIDE_BOMS) or _looks_like_bare_utf16(head):
        return head.replace(b"\x00", b"").lstrip(b"\xff\xfe")
    return head.removeprefix(codecs.BOM_UTF8)


def _wrong(message: str) -> ParseFailure:
    return ParseFailure("wrong_signature", message)
