"""ZIP archives, as Office documents are: entries that swell, reach out, lie about their size and nest."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator, Mapping
from io import BytesIO

from tests.reliability.hostile.cases import Case, file

_ZEROS = bytes(200_000_000)
_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="{part}" ContentType="application/vnd.openxmlformats-officedocument.{kind}+xml"/>'
    "</Types>"
)
_RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
    'officeDocument" Target="{target}"/></Relationships>'
)
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def cases() -> Iterator[Case]:
    """Yield the hostile archives."""
    yield from _office()
    yield from _archives()


def _zip(entries: Mapping[str, bytes | str], *, stored: bool = False) -> bytes:
    buffer = BytesIO()
    how = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(buffer, "w", how) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _docx(body: str, *, before: str = "", target: str = "word/document.xml", **more: bytes | str) -> bytes:
    document = f'{before}<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>'
    return _zip(
        {
            "[Content_Types].xml": _TYPES.format(
                part="/word/document.xml", kind="wordprocessingml.document.main"
            ),
            "_rels/.rels": _RELATIONS.format(target=target),
            "word/document.xml": document,
            **{name.replace("__", "/"): content for name, content in more.items()},
        }
    )


def _office() -> Iterator[Case]:
    words = "<w:p><w:r><w:t>Straw was stored for ninety days.</w:t></w:r></w:p>"
    laughs = (
        '<!DOCTYPE d [<!ENTITY a "'
        + "ha" * 5_000
        + '">'
        + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 20}">' for n in range(6))
    )
    outside = '<!DOCTYPE d [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    told = "<w:p><w:r><w:t>&{};</w:t></w:r></w:p>"
    yield file("laughs.docx", _docx(told.format("g"), before=laughs + "]>"))
    yield file("outside.docx", _docx(told.format("e"), before=outside))
    yield file("swelling.docx", _docx(words, word__media=_ZEROS))
    yield file("swelling-document.docx", _docx("<w:p>" + " " * 150_000_000 + "</w:p>"))
    yield file("deep.docx", _docx("<w:tbl><w:tr><w:tc>" * 5_000 + words + "</w:tc></w:tr></w:tbl>" * 5_000))
    yield file("paragraphs.docx", _docx(words * 40_000))
    yield file("table-wide.docx", _docx(f"<w:tbl><w:tr>{f'<w:tc>{words}</w:tc>' * 5_000}</w:tr></w:tbl>"))
    yield file("target-outside.docx", _docx(words, target="../../../../etc/passwd"))
    yield file("target-missing.docx", _docx(words, target="word/nothing.xml"))
    yield file("no-parts.docx", _zip({"x": "y"}))
    yield file("no-entries.docx", _zip({}))
    sheet = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    for name, cells in (
        ("far-cell", '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
        ("rows", "".join(f'<row r="{n}"><c r="A{n}"><v>1</v></c></row>' for n in range(1, 60_000))),
        ("bad-cell", '<row r="-1"><c r="ZZZZZ99999999999"><v>x</v></c></row>'),
        ("index", '<row r="1"><c r="A1" t="s"><v>99999999</v></c></row>'),
    ):
        yield file(f"{name}.xlsx", _xlsx(sheet, cells))
    yield file("text-as-sheet.xlsx", "Straw was stored for ninety days.", refused="wrong_signature")
    yield file("text-as-slides.pptx", "Straw was stored for ninety days.", refused="wrong_signature")


def _xlsx(space: str, cells: str) -> bytes:
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    sheets = '<sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets>'
    book = f'<workbook xmlns="{space}" xmlns:r="{office}">{sheets}</workbook>'
    relation = _RELATIONS.format(target="worksheets/s.xml").replace('/officeDocument"', '/worksheet"')
    return _zip(
        {
            "[Content_Types].xml": _TYPES.format(part="/xl/workbook.xml", kind="spreadsheetml.sheet.main"),
            "_rels/.rels": _RELATIONS.format(target="xl/workbook.xml"),
            "xl/workbook.xml": book,
            "xl/_rels/workbook.xml.rels": relation,
            "xl/worksheets/s.xml": f'<worksheet xmlns="{space}"><sheetData>{cells}</sheetData></worksheet>',
        }
    )


def _archives() -> Iterator[Case]:
    inner = _zip({"zeros": _ZEROS})
    for _ in range(3):
        inner = _zip({f"{n}.zip": inner for n in range(10)})
    for suffix in ("pdf", "txt", "md", "html", "xml", "tex"):
        yield file(f"nested.{suffix}", inner, refused="wrong_signature")
    yield file("nested.docx", inner)
    yield file("escaping.docx", _zip({"../../../../tmp/evil": "x", "/etc/evil": "x"}))
    yield file("many-entries.docx", _zip({f"{n}": "" for n in range(20_000)}, stored=True))
    yield file("same-name.docx", _zip({"a": "x"}) + _zip({"a": "y"}))
    honest = bytearray(_docx("<w:p/>"))
    at = honest.rfind(b"PK\x01\x02")
    struct.pack_into("<I", honest, at + 24, 0xFFFFFFFE)
    yield file("lying-size.docx", bytes(honest))
    struct.pack_into("<I", honest, at + 42, 0xFFFFFF00)
    yield file("lying-place.docx", bytes(honest))
    yield file("cut.docx", bytes(honest[: len(honest) // 2]))
    yield file("compressed.pdf", b"\x1f\x8b\x08" + bytes(200), refused="wrong_signature")
    yield file("program.txt", b"\x7fELF" + bytes(200), refused="wrong_signature")
    yield file("picture.md", b"\x89PNG\r\n\x1a\n" + bytes(200), refused="wrong_signature")
