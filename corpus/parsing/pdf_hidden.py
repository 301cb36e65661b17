"""What pages of a PDF hold and do not show: in the colour of its ground, without ink, tiny, off the page.

A page that is a picture of itself has its words behind it, as OCR leaves them: those are no secret, since the
picture shows them. What stands on a picture or a shading is left alone, since its ground is not known.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium

from corpus.parsing.hidden import Hidden, How

_WHITE = (255, 255, 255)
# Of 255, in every channel: nearer than this nobody tells letters from their ground.
_SAME = 10
_FAINTEST = 8
_SMALLEST_POINTS = 0.9
_MOST_OBJECTS = 20_000
_DEEPEST = 4
# A picture of the page itself, as scanners make them.
_SCANNED_SHARE = 0.5
_NO_INK = {pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP}
_STROKED = {
    pdfium.FPDF_TEXTRENDERMODE_STROKE,
    pdfium.FPDF_TEXTRENDERMODE_FILL_STROKE,
    pdfium.FPDF_TEXTRENDERMODE_STROKE_CLIP,
    pdfium.FPDF_TEXTRENDERMODE_FILL_STROKE_CLIP,
}

_Colour = tuple[int, int, int]
_Bounds = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class _Ground:
    """Something painted. The colour is None where it is a picture or a shading."""

    bounds: _Bounds
    colour: _Colour | None


def on_page(page: Any, number: int) -> Iterator[Hidden]:
    """Yield the hidden words of a page, those hidden in the same way together: they may be cut anywhere."""
    text_page = page.get_textpage()
    found: dict[How, list[str]] = {}
    try:
        look = _Look(page, text_page.raw)
        for item, matrix in _objects(page.raw):
            kind = pdfium.FPDFPageObj_GetType(item)
            if kind != pdfium.FPDF_PAGEOBJ_TEXT:
                look.paint(item, kind, matrix)
            elif (how := look.how(item, matrix)) is not None:
                found.setdefault(how, []).append(look.text(item))
    finally:
        text_page.close()
    if look.is_scan:
        # Its picture, which may have been painted last, shows them.
        found.pop(How.NO_INK, None)
    for how, parts in found.items():
        yield Hidden(how, " ".join(parts), number)


_Matrix = tuple[float, float, float, float, float, float]
_UNMOVED: _Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def _objects(page: Any) -> Iterator[tuple[Any, _Matrix]]:
    """Yield what a page paints, in order, with where the form that it stands in is put."""
    left = _MOST_OBJECTS

    def within(form: Any, matrix: _Matrix, depth: int) -> Iterator[tuple[Any, _Matrix]]:
        nonlocal left
        count, get = (
            (pdfium.FPDFPage_CountObjects, pdfium.FPDFPage_GetObject)
            if depth == 0
            else (pdfium.FPDFFormObj_CountObjects, pdfium.FPDFFormObj_GetObject)
        )
        for index in range(max(0, count(form))):
            left -= 1
            if left < 0:
                return
            item = get(form, index)
            if pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_FORM:
                if depth < _DEEPEST:
                    yield from within(item, _times(_matrix_of(item), matrix), depth + 1)
            else:
                yield item, matrix

    yield from within(page, _UNMOVED, 0)


def _matrix_of(item: Any) -> _Matrix:
    found = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(item, ctypes.byref(found)):
        return _UNMOVED
    return found.a, found.b, found.c, found.d, found.e, found.f


def _times(inner: _Matrix, outer: _Matrix) -> _Matrix:
    a, b, c, d, e, f = inner
    p, q, r, s, t, u = outer
    return (
        a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u,
    )  # fmt: skip


class _Look:
    """What has been painted so far, and whether a run of text on it can be seen."""

    def __init__(self, page: Any, text_page: Any) -> None:
        self._text_page = text_page
        left, bottom, right, top = page.get_bbox()
        self._page: _Bounds = (left, bottom, right, top)
        self._grounds: list[_Ground] = []
        self._colours = {_WHITE}
        self._pictured = 0.0

    def paint(self, item: Any, kind: int, matrix: _Matrix) -> None:
        """Remember a ground that later text may stand on."""
        bounds = _bounds(item, matrix)
        if bounds is None:
            return
        if kind == pdfium.FPDF_PAGEOBJ_PATH:
            fill, stroke = ctypes.c_int(), ctypes.c_int()
            pdfium.FPDFPath_GetDrawMode(item, ctypes.byref(fill), ctypes.byref(stroke))
            colour = _fill_colour(item)
            if fill.value and colour is not None:
                self._grounds.append(_Ground(bounds, colour if _is_rectangle(item) else None))
                self._colours.add(colour)
        elif kind in (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_SHADING):
            self._grounds.append(_Ground(bounds, None))
            if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
                # Scanners may cut the page into strips.
                self._pictured += _share_of(self._page, bounds)

    @property
    def is_scan(self) -> bool:
        """Whether pictures cover the page, so that what has no ink is what they show."""
        return self._pictured >= _SCANNED_SHARE

    def text(self, item: Any) -> str:
        """Return the words of a run."""
        size = pdfium.FPDFTextObj_GetText(item, self._text_page, None, 0)
        if size <= 2:
            return ""
        buffer = ctypes.create_string_buffer(size)
        as_words = ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort))
        pdfium.FPDFTextObj_GetText(item, self._text_page, as_words, size)
        return buffer.raw[: size - 2].decode("utf-16-le", "replace")

    def how(self, item: Any, matrix: _Matrix) -> How | None:
        """Return how a run is hidden; None when it is seen, or nobody can say."""
        mode = pdfium.FPDFTextObj_GetTextRenderMode(item)
        if mode in _NO_INK:
            return How.NO_INK
        bounds = _bounds(item, matrix)
        if bounds is None:
            return None
        if _share_of(bounds, self._page) <= 0:
            return How.OFF_PAGE
        if _height_of_type(item, matrix) < _SMALLEST_POINTS:
            return How.TINY
        return None if mode in _STROKED else self._by_colour(item, bounds)

    def _by_colour(self, item: Any, bounds: _Bounds) -> How | None:
        colour = _fill_colour(item)
        if colour is None:
            return How.NO_INK
        # Most text is of a colour that no ground has: where it stands need not be looked up.
        if not any(_is_same(colour, one) for one in self._colours):
            return None
        ground = self._ground(bounds)
        return How.SAME_COLOUR if ground is not None and _is_same(colour, ground) else None

    def _ground(self, bounds: _Bounds) -> _Colour | None:
        """Return the colour that a run stands on: of the last thing painted under it, or of the paper."""
        for ground in reversed(self._grounds):
            if _share_of(bounds, ground.bounds) > 0:
                return ground.colour if _covers(ground.bounds, bounds) else None
        return _WHITE


def _is_rectangle(path: Any) -> bool:
    return pdfium.FPDFPath_CountSegments(path) in (4, 5)


def _fill_colour(item: Any) -> _Colour | None:
    """Return the colour that an object is filled with; None where it is as good as transparent."""
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    known = pdfium.FPDFPageObj_GetFillColor(
        item, ctypes.byref(red), ctypes.byref(green), ctypes.byref(blue), ctypes.byref(alpha)
    )
    if known and alpha.value < _FAINTEST:
        return None
    # Patterns have no colour of their own: black, which nothing hides on paper.
    return (red.value, green.value, blue.value) if known else (0, 0, 0)


def _is_same(one: _Colour, other: _Colour) -> bool:
    return all(abs(a - b) <= _SAME for a, b in zip(one, other, strict=True))


def _height_of_type(item: Any, matrix: _Matrix) -> float:
    size = ctypes.c_float()
    if not pdfium.FPDFTextObj_GetFontSize(item, ctypes.byref(size)):
        return 1_000.0
    _, _, c, d, _, _ = _times(_matrix_of(item), matrix)
    return abs(size.value) * float((c * c + d * d) ** 0.5)


def _bounds(item: Any, matrix: _Matrix) -> _Bounds | None:
    edges = [ctypes.c_float() for _ in range(4)]
    if not pdfium.FPDFPageObj_GetBounds(item, *(ctypes.byref(edge) for edge in edges)):
        return None
    left, bottom, right, top = (edge.value for edge in edges)
    if matrix is _UNMOVED:
        return left, bottom, right, top
    a, b, c, d, e, f = matrix
    corners = [(x * a + y * c + e, x * b + y * d + f) for x in (left, right) for y in (bottom, top)]
    across, up = [x for x, _ in corners], [y for _, y in corners]
    return min(across), min(up), max(across), max(up)


def _covers(outer: _Bounds, inner: _Bounds) -> bool:
    return _share_of(inner, outer) > 0.98


def _share_of(inner: _Bounds, outer: _Bounds) -> float:
    """Return how much of `inner` lies in `outer`; a line without height counts by its length."""
    shares = 1.0
    for low, high in ((0, 2), (1, 3)):
        start, end = max(inner[low], outer[low]), min(inner[high], outer[high])
        if end < start:
            return 0.0
        length = inner[high] - inner[low]
        shares *= (end - start) / length if length > 0 else 1.0
    return shares
