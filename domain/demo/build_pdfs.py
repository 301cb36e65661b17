"""Write the PDFs of the demo corpus from the texts in `pdf_sources/`.

Run it after changing a text: `.venv/bin/python domain/demo/build_pdfs.py`. The output depends on nothing
but the texts and the version of reportlab: no clock, no random identifiers, no compression, so that the
same texts give the same bytes. The pages are made to resemble papers: running headers, page numbers, one
or two columns, tables, and words hyphenated at the end of a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reportlab import rl_config
from reportlab.lib import colors
from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.pagesizes import A5, B5
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    FrameBreak,
    KeepTogether,
    NextPageTemplate,
    PageTemplate,
    Paragraph,
    Table,
    TableStyle,
)

HERE = Path(__file__).resolve().parent
# Where a long word may break: before a consonant with a vowel after it, away from both ends of the word.
_BREAK = re.compile(r"(?<=[a-z]{3}[a-z])(?=[bcdfglmnprstv][aeiou][a-z]{2})")
MARGIN = 17 * mm
GUTTER = 6 * mm
TITLE_HEIGHT = 26 * mm

BODY = ParagraphStyle(
    "body", fontName="Times-Roman", fontSize=10, leading=13.5, spaceAfter=7, alignment=TA_JUSTIFY,
    embeddedHyphenation=1,
)  # fmt: skip
TITLE = ParagraphStyle("title", fontName="Helvetica-Bold", fontSize=15, leading=18, spaceAfter=6)
AUTHORS = ParagraphStyle("authors", fontName="Times-Italic", fontSize=10.5, leading=13, spaceAfter=4)
HEADING = ParagraphStyle(
    "heading", fontName="Helvetica-Bold", fontSize=11, leading=14, spaceBefore=6, spaceAfter=3
)
SUBHEADING = ParagraphStyle("subheading", parent=HEADING, fontSize=9.8, leading=12.5)
CAPTION = ParagraphStyle(
    "caption", fontName="Helvetica", fontSize=8.4, leading=10.5, spaceBefore=4, spaceAfter=3
)
CELL = ParagraphStyle("cell", fontName="Helvetica", fontSize=8, leading=9.6)


@dataclass(frozen=True, slots=True)
class Paper:
    """One text of `pdf_sources/`: a few `key: value` lines, an empty line, and the body."""

    fields: dict[str, str]
    body: str

    @classmethod
    def read(cls, path: Path) -> Paper:
        head, body = path.read_text(encoding="utf-8").split("\n\n", 1)
        return cls(dict(line.split(": ", 1) for line in head.splitlines()), body)

    @property
    def columns(self) -> int:
        return int(self.fields["columns"])

    @property
    def size(self) -> tuple[float, float]:
        """The page: journals with two columns print on B5, those with one on A5."""
        return B5 if self.columns == 2 else A5

    @property
    def column_width(self) -> float:
        return (self.size[0] - 2 * MARGIN - (self.columns - 1) * GUTTER) / self.columns


def build(source: Path, target: Path) -> None:
    """Write the PDF of the text at `source` to `target`."""
    rl_config.invariant = 1
    paper = Paper.read(source)
    document = BaseDocTemplate(
        str(target), pagesize=paper.size, title=paper.fields["title"], author=paper.fields["authors"],
        pageCompression=0, invariant=1,
    )  # fmt: skip
    document.addPageTemplates(_page_templates(paper))
    document.build([*_front(paper), *_flowables(paper)])


def _page_templates(paper: Paper) -> list[PageTemplate]:
    width, height = paper.size
    body_height = height - 2 * MARGIN - 4 * mm

    def furniture(canvas: Canvas, document: Any) -> None:
        canvas.setFont("Helvetica", 8)
        canvas.drawString(MARGIN, height - 12 * mm, paper.fields["running"])
        canvas.drawRightString(width - MARGIN, height - 12 * mm, str(document.page))
        canvas.drawString(MARGIN, 12 * mm, paper.fields["footer"])

    title = _frame(MARGIN, height - MARGIN - TITLE_HEIGHT, width - 2 * MARGIN, TITLE_HEIGHT)
    return [
        PageTemplate("first", [title, *_columns(paper, body_height - TITLE_HEIGHT)], onPage=furniture),
        PageTemplate("later", _columns(paper, body_height), onPage=furniture),
    ]


def _columns(paper: Paper, height: float) -> list[Frame]:
    step = paper.column_width + GUTTER
    return [
        _frame(MARGIN + number * step, MARGIN + 4 * mm, paper.column_width, height)
        for number in range(paper.columns)
    ]


def _frame(left: float, bottom: float, width: float, height: float) -> Frame:
    return Frame(left, bottom, width, height, leftPadding=0, rightPadding=0)


def _front(paper: Paper) -> list[Flowable]:
    return [
        NextPageTemplate("later"),
        Paragraph(paper.fields["title"], TITLE),
        Paragraph(paper.fields["authors"], AUTHORS),
        FrameBreak(),
    ]


def _flowables(paper: Paper) -> Iterator[Flowable]:
    for block in paper.body.strip().split("\n\n"):
        if block.startswith("== "):
            yield Paragraph(block[3:], SUBHEADING)
        elif block.startswith("= "):
            yield Paragraph(block[2:], HEADING)
        elif block.startswith("Table ") and "\n|" in block:
            caption, *rows = block.splitlines()
            yield KeepTogether([Paragraph(caption, CAPTION), _table(rows, paper.column_width)])
        else:
            yield Paragraph(_BREAK.sub("\u00ad", block), BODY)


def _table(lines: list[str], width: float) -> Table:
    rows = [[Paragraph(cell.strip(), CELL) for cell in line.strip("|").split("|")] for line in lines]
    share = width / (len(rows[0]) + 0.6)
    return Table(
        rows,
        colWidths=[share * (1.6 if column == 0 else 1) for column in range(len(rows[0]))],
        spaceAfter=8,
        style=TableStyle(
            [
                ("LINEABOVE", (0, 0), (-1, 0), 0.8, colors.black),
                ("LINEBELOW", (0, 0), (-1, 0), 0.4, colors.black),
                ("LINEBELOW", (0, -1), (-1, -1), 0.8, colors.black),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
                ("LEFTPADDING", (0, 0), (-1, -1), 2),
                ("RIGHTPADDING", (0, 0), (-1, -1), 2),
                ("TOPPADDING", (0, 0), (-1, -1), 1.5),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 1.5),
            ]
        ),
    )


def main() -> None:
    """Write every PDF of the demo corpus."""
    for source in sorted((HERE / "pdf_sources").glob("*.txt")):
        build(source, HERE / "documents" / f"{source.stem}.pdf")


if __name__ == "__main__":
    main()
