"""An Office document made plain before Docling reads it: its words alone, no pictures, no looks.

Docling trims the runs of a paragraph, so a word that is half bold would come apart and one behind an
exponent would run into it. Without looks a paragraph is one run, and its words are as their author set them.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

from lxml import etree

from corpus.parsing.blocks import ParseFailure
from corpus.parsing.markup import local_name, raised

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT_W = "{http://purl.oclc.org/ooxml/wordprocessingml/main}"
_RUN_TAGS = frozenset({f"{_W}r", f"{_STRICT_W}r", f"{_W}p", f"{_STRICT_W}p"})
_NO_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_OFF = frozenset({"0", "false", "off", "none"})
# What stands around runs without being seen: their content moves up, or goes with them.
_UNWRAPPED = frozenset({"hyperlink", "ins", "moveto", "smarttag"})
_REMOVED = frozenset({"del", "movefrom", "pic", "imagedata", "fallback"})
_WORD_TEXTS = frozenset({"word/document.xml", "word/footnotes.xml", "word/endnotes.xml"})
_SLIDES = "ppt/slides/slide"
_SHEETS = "xl/worksheets/sheet"
# A cell that is only coloured may stand at the far end of a sheet; what lies between would be read.
_EMPTY_CELL = re.compile(rb"<(?:c|row|dimension)(?:\s[^<>]*)?/>")
_PICTURES = frozenset(".png .jpg .jpeg .jpe .gif .bmp .tif .tiff .emf .wmf .wdp .svg .webp .ico".split())
_EMBEDDED = frozenset(
    ".bin .xlsx .docx .pptx .xls .doc .ppt .ole .fntdata .odttf .mp3 .mp4 .wav .avi".split()
)
_ONE_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8ffff3f0005"
    "fe02fe0def46b80000000049454e44ae426082"
)


def plain(path: Path) -> bytes:
    """Return the document of an inspected archive with plain text runs; other files in it are emptied."""
    written = BytesIO()
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(written, "w") as copy:
        for part in archive.infolist():
            if not part.is_dir():
                copy.writestr(part.filename, _content(archive, part.filename))
    return written.getvalue()


def _content(archive: zipfile.ZipFile, name: str) -> bytes:
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in _PICTURES:
        return _ONE_PIXEL
    if suffix in _EMBEDDED:
        return b""
    data = archive.read(name)
    if name in _WORD_TEXTS:
        return _rewritten(data, _plain_word)
    if name.startswith(_SHEETS):
        return _EMPTY_CELL.sub(b"", data)
    return _rewritten(data, _without_pictures) if name.startswith(_SLIDES) and suffix == ".xml" else data


def _rewritten(data: bytes, change: Callable[[Any], None]) -> bytes:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise ParseFailure("damaged", "A part of the document is not well-formed XML.") from error
    change(root)
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True)


def _without_pictures(root: Any) -> None:
    for element in [found for found in root.iter() if local_name(found) == "pic"]:
        element.getparent().remove(element)


def _plain_word(root: Any) -> None:
    _flatten(root)
    for table in [found for found in root.iter() if local_name(found) == "tbl"]:
        _complete_table(table)
    before = ""
    for element in [found for found in root.iter() if found.tag in _RUN_TAGS]:
        before = _plain_run(element, before)


def _flatten(root: Any) -> None:
    """Take out what was deleted or only pictured, and what stands around runs without being seen."""
    for element in list(root.iter()):
        name = local_name(element)
        parent = element.getparent()
        if parent is None:
            continue
        if name in _REMOVED:
            parent.remove(element)
        elif name in _UNWRAPPED:
            place = parent.index(element)
            parent[place : place + 1] = list(element)


def _complete_table(table: Any) -> None:
    """Add the properties and columns that a reader insists on and some programs leave out."""
    space = table.tag.removesuffix("tbl")
    names = [local_name(child) for child in table]
    if "tblgrid" not in names:
        rows = [child for child in table if local_name(child) == "tr"]
        width = max((sum(local_name(cell) == "tc" for cell in row) for row in rows), default=0)
        grid = etree.Element(f"{space}tblGrid")
        grid.extend(etree.Element(f"{space}gridCol") for _ in range(width))
        table.insert(1 if "tblpr" in names else 0, grid)
    if "tblpr" not in names:
        table.insert(0, etree.Element(f"{space}tblPr"))


def _plain_run(element: Any, before: str) -> str:
    """Strip a run of its looks, exponents becoming characters; return the words up to here."""
    if local_name(element) == "p":
        return ""
    looks = next((child for child in element if local_name(child) == "rpr"), None)
    position = ""
    if looks is not None:
        if _is_hidden(looks):
            element.getparent().remove(element)
            return before
        position = next((_value(mark) for mark in looks if local_name(mark) == "vertalign"), "")
        element.remove(looks)
    for text in element:
        if local_name(text) == "t":
            words = text.text or ""
            text.text = raised(words, after=before) if position == "superscript" else words
            text.set(_NO_SPACE, "preserve")
            before = (before + text.text)[-200:]
    return before


def _is_hidden(looks: Any) -> bool:
    return any(local_name(mark) == "vanish" and _value(mark) not in _OFF for mark in looks)


def _value(mark: Any) -> str:
    return next((str(value) for name, value in mark.attrib.items() if name.rpartition("}")[2] == "val"), "")
