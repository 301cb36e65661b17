"""A page of a PDF as a picture. Runs in the parsing process only: it reads what a stranger made."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pypdfium2
from PIL import Image, WebPImagePlugin  # noqa: F401 (the plugin registers the format)

from corpus.parsing.blocks import ParseFailure
from corpus.parsing.pdf_characters import turns_to_read
from corpus.parsing.pdf_layout import open_pdf

MEDIA_TYPE = "image/webp"
MAX_PIXELS = 12_000_000
_LONGEST_SIDE = 16_000  # the format ends at 16,383
_QUALITY, _EFFORT = 80, 2


def render(path: Path, *, page: int, width: int) -> bytes:
    """Return page number `page`, counted from 1, as a WebP picture `width` pixels wide.

    The page stands as it was read: with text that lies on its side it is turned, so that the boxes of
    passages fit. A page that is very long for its width comes out narrower. Raises `ParseFailure`.
    """
    document = open_pdf(path)
    try:
        picture = _drawn(document, page, width)
    finally:
        document.close()
    target = BytesIO()
    picture.save(target, "WEBP", quality=_QUALITY, method=_EFFORT)
    return target.getvalue()


def _drawn(document: pypdfium2.PdfDocument, number: int, width: int) -> Image.Image:
    if not 1 <= number <= len(document):
        raise ParseFailure("no_such_page", f"The PDF has no page {number}.")
    try:
        page = document[number - 1]
        turns = turns_to_read(page)
        across, down = page.get_size()
        if turns % 2:
            across, down = down, across
        bitmap = page.render(
            scale=_scale(across, down, width), rotation=90 * turns, may_draw_forms=False, maybe_alpha=False
        )
    except pypdfium2.PdfiumError as error:
        raise ParseFailure("damaged", "The page is damaged and cannot be drawn.") from error
    picture: Image.Image = bitmap.to_pil()
    return picture


def _scale(across: float, down: float, width: int) -> float:
    """Return pixels for a point: `width` over the page's, less where that would be too many."""
    if across <= 0 or down <= 0:
        raise ParseFailure("damaged", "The page has no area.")
    wanted = width / across
    within_pixels = (MAX_PIXELS / (across * down)) ** 0.5
    return float(min(wanted, within_pixels, _LONGEST_SIDE / max(across, down)))
