"""Office documents written by hand: what the tests need of their XML, and nothing else."""

import zipfile
from pathlib import Path

_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_FORMATS = "application/vnd.openxmlformats-officedocument"
WORD_TYPE = f"{_FORMATS}.wordprocessingml.document.main+xml"
SHEET_TYPE = f"{_FORMATS}.spreadsheetml.sheet.main+xml"
_W = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    f'xmlns:r="{_RELATIONS}" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)


def run(text: str, looks: str = "") -> str:
    """Return a run of text, `looks` being what stands in its properties."""
    properties = f"<w:rPr>{looks}</w:rPr>" if looks else ""
    return f'<w:r>{properties}<w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(inner: str, style: str = "") -> str:
    """Return a paragraph around runs, in a named style."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}{inner}</w:p>"


def table(*rows: tuple[str, ...]) -> str:
    """Return a table of plain cells."""
    lines = "".join(
        "<w:tr>" + "".join(f"<w:tc>{paragraph(run(cell))}</w:tc>" for cell in row) + "</w:tr>" for row in rows
    )
    return f"<w:tbl>{lines}</w:tbl>"


def relations(*entries: tuple[str, str, str], external: str = "") -> str:
    """Return relationships of (id, kind, target), and an external one to `external`."""
    lines = "".join(
        f'<Relationship Id="{name}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'
        for name, kind, target in entries
    )
    if external:
        lines += (
            f'<Relationship Id="far" Type="{_RELATIONS}/image" Target="{external}" TargetMode="External"/>'
            f'<Relationship Id="model" Type="{_RELATIONS}/attachedTemplate" Target="{external}" '
            'TargetMode="External"/>'
        )
    return f'<?xml version="1.0"?><Relationships xmlns="{_PACKAGE}">{lines}</Relationships>'


def types(**overrides: str) -> str:
    """Return the list of content types for parts named like `word_document`."""
    lines = "".join(
        f'<Override PartName="/{name.replace("__", "/")}.xml" ContentType="{kind}"/>'
        for name, kind in overrides.items()
    )
    return (
        f'<?xml version="1.0"?><Types xmlns="{_TYPES}">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{lines}</Types>'
    )


_STYLES = f"""<?xml version="1.0"?><w:styles {_W}>
<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/></w:style>
</w:styles>"""
_CORE = """<?xml version="1.0"?><cp:coreProperties
xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title><dc:creator>{authors}</dc:creator>
<dc:language>{language}</dc:language></cp:coreProperties>"""


def word_parts(
    body: str, *, footnotes: str = "", title: str = "", authors: str = "", external: str = ""
) -> dict[str, str]:
    """Return the parts of a Word document by name."""
    return {
        "[Content_Types].xml": types(
            word__document=WORD_TYPE,
            word__styles=f"{_FORMATS}.wordprocessingml.styles+xml",
            word__footnotes=f"{_FORMATS}.wordprocessingml.footnotes+xml",
        ),
        "_rels/.rels": relations(("a", "officeDocument", "word/document.xml")),
        "docProps/core.xml": _CORE.format(title=title, authors=authors, language="en-GB"),
        "word/document.xml": f'<?xml version="1.0"?><w:document {_W}><w:body>{body}<w:sectPr/></w:body>'
        "</w:document>",
        "word/styles.xml": _STYLES,
        "word/footnotes.xml": f'<?xml version="1.0"?><w:footnotes {_W}>{footnotes}</w:footnotes>',
        "word/_rels/document.xml.rels": relations(
            ("s", "styles", "styles.xml"), ("f", "footnotes", "footnotes.xml"), external=external
        ),
    }


def sheet_parts(cells: str) -> dict[str, str]:
    """Return the parts of a workbook with one sheet."""
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    return {
        "[Content_Types].xml": types(
            xl__workbook=SHEET_TYPE, xl__worksheets__sheet1=f"{_FORMATS}.spreadsheetml.worksheet+xml"
        ),
        "_rels/.rels": relations(("a", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<?xml version="1.0"?><workbook {space} xmlns:r="{_RELATIONS}"><sheets>'
        '<sheet name="Yields" sheetId="1" r:id="s"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(("s", "worksheet", "worksheets/sheet1.xml")),
        "xl/worksheets/sheet1.xml": f'<?xml version="1.0"?><worksheet {space}><sheetData>{cells}</sheetData>'
        "</worksheet>",
    }


def write(path: Path, parts: dict[str, str | bytes] | dict[str, str]) -> Path:
    """Write the parts as an archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def word(path: Path, body: str, **more: str) -> Path:
    """Write a Word document."""
    return write(path, word_parts(body, **more))
