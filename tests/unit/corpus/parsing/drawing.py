"""Draws the small PDFs that the layout tests read."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from corpus.parsing import parsers
from corpus.parsing.blocks import ParsedDocument
from corpus.parsing.limits import ParseLimits
from corpus.parsing.media_types import PDF

WIDTH, HEIGHT = A4
LEFT, RIGHT, TOP = 50.0, 310.0, 780.0
COLUMN_WIDTH = 235.0
LEADING = 12.0

_WORDS = (
    "straw silage yield biogas reactor steam enzyme glucan lignin feed load rate mean trial batch sample "
    "heat time acid base water solid liquid phase gas flow model fit test plot error range study field crop "
    "soil"
).split()


class Drawing:
    """Pages drawn from the top down, parsed where they are."""

    def __init__(self, **metadata: str) -> None:
        self._bytes = BytesIO()
        self.canvas = Canvas(self._bytes, pagesize=A4, invariant=1)
        for name, value in metadata.items():
            getattr(self.canvas, f"set{name.title()}")(value)

    def line(self, x: float, y: float, text: str, *, font: str = "Times-Roman", size: float = 10) -> None:
        """Draw one line of text with its baseline at `y`."""
        self.canvas.setFont(font, size)
        self.canvas.drawString(x, y, text)

    def column(
        self, x: float, y: float, lines: list[str], *, font: str = "Times-Roman", size: float = 10
    ) -> float:
        """Draw lines below each other and return the next baseline."""
        for text in lines:
            self.line(x, y, text, font=font, size=size)
            y -= LEADING
        return y

    def prose(self, x: float, y: float, *, lines: int, first: str = "", seed: int = 0) -> float:
        """Draw a paragraph of full lines that begins with `first`, and return the next baseline."""
        width, place = COLUMN_WIDTH, seed
        for number in range(lines):
            text = first if number == 0 else ""
            while True:
                longer = f"{text} {_WORDS[(place * 7 + place // 3) % len(_WORDS)]}".strip()
                if self.canvas.stringWidth(longer, "Times-Roman", 10) > width:
                    break
                text, place = longer, place + 1
            self.line(x, y, f"{text}." if number == lines - 1 else text)
            y -= LEADING
        return y

    def rule(self, x: float, y: float, width: float) -> None:
        """Draw a horizontal line."""
        self.canvas.setLineWidth(0.5)
        self.canvas.line(x, y, x + width, y)

    def next_page(self) -> None:
        """End the page."""
        self.canvas.showPage()

    def save(self, path: Path) -> Path:
        """Write the file."""
        self.canvas.showPage()
        self.canvas.save()
        path.write_bytes(self._bytes.getvalue())
        return path

    def parsed(self, folder: Path) -> ParsedDocument:
        """Return what the parser finds in the drawing."""
        return parsers.load(PDF)(self.save(folder / "drawing.pdf"), ParseLimits())
