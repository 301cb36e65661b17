"""The characters of a PDF page with their places, by pdfium, gathered into spans."""

from __future__ import annotations

import ctypes
import math
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from corpus.parsing.markup import raised
from corpus.parsing.pdf_rules import page_rules
from corpus.parsing.pdf_types import Page, Span, Style

_LINE_END_HYPHEN = 0x02  # how pdfium marks it
_REPLACEMENT = "\ufffd"
_SMALLEST_SIZE = 1.0
_WIDE_GAP = 0.3  # of the type size: from here a gap may divide cells of a table
_BOLD_NAMES = ("bold", "black", "heavy", "demi", "cmbx", "cmssbx", "sfbx", "-bd", "medi")
_ITALIC_NAMES = ("italic", "oblique", "cmti", "cmsl", "-it", "ital")
_MONO_NAMES = ("mono", "courier", "cmtt", "sftt", "consol", "typewriter", "menlo", "inconsolata")
_MATH_NAMES = ("cmmi", "cmsy", "cmex", "msam", "msbm", "math", "symbol", "mtmi", "mtsy", "eufm", "rmtmi")
_DRAWING_NAMES = ("lcircle", "linew1", "line1")  # whose signs are corners and strokes of frames, not text
_FIXED_PITCH, _FORCE_BOLD = 1 << 0, 1 << 18

_Font = tuple[bool, bool, bool, bool, str]  # bold, italic, mono, math, name


def read_page(page: pypdfium2.PdfPage, number: int) -> Page:
    """Return what `page` shows: spans in the order of its content, rules, and the words set at an angle.

    A page whose text lies on its side is read as if it were turned.
    """
    text_page = page.get_textpage()
    try:
        place = _Placing(page)
        reader = _Reader(text_page.raw, place)
        reader.read()
        turns = reader.prevailing_turns()
        if turns:
            place = _Placing(page, extra_turns=turns)
            reader = _Reader(text_page.raw, place)
            reader.read()
    finally:
        text_page.close()
    return Page(
        number=number,
        width=place.width,
        height=place.height,
        spans=reader.spans,
        rotated=reader.rotated_texts(),
        rules=page_rules(page.raw, place),
        characters=reader.characters,
        unmapped=reader.unmapped,
    )


def turns_to_read(page: pypdfium2.PdfPage) -> int:
    """Return by how many quarter turns, clockwise, `read_page` reads this page turned."""
    text_page = page.get_textpage()
    try:
        reader = _Reader(text_page.raw, _Placing(page))
        reader.read()
        return reader.prevailing_turns()
    finally:
        text_page.close()


class _Placing:
    """From page coordinates to points from the top left of the page as it is shown."""

    def __init__(self, page: pypdfium2.PdfPage, *, extra_turns: int = 0) -> None:
        self.width, self.height = page.get_size()
        if extra_turns % 2:
            self.width, self.height = self.height, self.width
        self.quarter_turns = (page.get_rotation() // 90 + extra_turns) % 4
        # The box that is drawn. Those the page names itself are no help where it inherits them.
        left, bottom, right, top = page.get_bbox()
        self._left, self._bottom, self._right, self._top = left, bottom, right, top

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point of the page's own space is shown."""
        if self.quarter_turns == 0:
            return x - self._left, self._top - y
        if self.quarter_turns == 1:
            return y - self._bottom, x - self._left
        if self.quarter_turns == 2:
            return self._right - x, y - self._bottom
        return self._top - y, self._right - x

    def box(self, left: float, bottom: float, right: float, top: float) -> tuple[float, float, float, float]:
        """Return left, top, right, bottom of a rectangle as shown."""
        (x0, y0), (x1, y1) = self.point(left, bottom), self.point(right, top)
        return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


@dataclass(slots=True)
class _Open:
    """The span that is being gathered."""

    text: list[str]
    left: float
    right: float
    baseline: float
    style: Style
    is_spaced: bool
    gaps: list[float] = field(default_factory=list)
    raising: bool | None = None  # None off the raised characters, else whether they become exponents
    widths: list[float] = field(default_factory=list)
    wide: list[tuple[int, float, float]] = field(default_factory=list)
    styles: list[Style] = field(default_factory=list)


class _Reader:
    """One pass over the characters of a text page."""

    def __init__(self, raw: Any, place: _Placing) -> None:
        self.spans: list[Span] = []
        self.characters = 0
        self.unmapped = 0
        self._raw = raw
        self._place = place
        self._open: _Open | None = None
        self._space = False
        self._rotated: dict[tuple[int, int], list[str]] = {}
        self._objects: dict[int, tuple[Style, int]] = {}
        self._fonts: dict[int, _Font] = {}

    def read(self) -> None:
        """Gather every character of the page."""
        raw, point = self._raw, self._place.point
        rect, x, y = pdfium.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
        rect_at, x_at, y_at = ctypes.byref(rect), ctypes.byref(x), ctypes.byref(y)
        high = 0
        for index in range(pdfium.FPDFText_CountChars(raw)):
            code = pdfium.FPDFText_GetUnicode(raw, index)
            if 0xD800 <= code < 0xDC00:
                high = code
                continue
            if 0xDC00 <= code < 0xE000:
                code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00) if high else 0xFFFD
                high = 0
            if code in (0x20, 0xA0, 0x0D, 0x0A, 0x09):
                self._space = True
                continue
            pdfium.FPDFText_GetLooseCharBox(raw, index, rect_at)
            pdfium.FPDFText_GetCharOrigin(raw, index, x_at, y_at)
            style, turns = self._look(index, rect)
            if style.font.startswith(_DRAWING_NAMES):
                continue
            char = self._character(code)
            if turns:
                self._take_rotated(char, turns, x.value, y.value, style.size)
                continue
            if self._place.quarter_turns:
                left, _, right, _ = self._place.box(rect.left, rect.bottom, rect.right, rect.top)
            else:
                left, right = point(rect.left, 0)[0], point(rect.right, 0)[0]
            self._take(char, left, right, point(x.value, y.value)[1], style)
        self._close()

    def rotated_texts(self) -> list[str]:
        """Return the texts set at an angle, one for each line of them."""
        return [text for parts in self._rotated.values() if (text := "".join(parts).strip())]

    def prevailing_turns(self) -> int:
        """Return the quarter turns most of the characters have, 0 where they stand upright."""
        counts: Counter[int] = Counter()
        for (turns, _), parts in self._rotated.items():
            counts[turns] += len(parts)
        if not counts:
            return 0
        turns, count = counts.most_common(1)[0]
        return turns if count > 0.6 * self.characters else 0

    def _character(self, code: int) -> str:
        self.characters += 1
        if code == _LINE_END_HYPHEN:
            return "-"
        if code < 0x20 or 0xE000 <= code < 0xF900 or code in (0xFFFD, 0xFFFE, 0xFFFF):
            self.unmapped += 1
            return _REPLACEMENT
        return chr(code)

    def _take(self, char: str, left: float, right: float, baseline: float, style: Style) -> None:
        current = self._open
        if current is None or not _continues(current, left, right, baseline, style):
            self._close()
            self._open = _Open([char], left, right, baseline, style, self._space)
            self._space = False
        else:
            is_raised = (
                style.size < 0.85 * current.style.size
                and baseline < current.baseline - 0.1 * current.style.size
            )
            if not is_raised:
                current.raising = None
            elif current.raising is None:
                current.raising = current.text[-1].isdigit()
            if current.raising:
                char = raised(char, after="0")
            gap = left - current.right
            # An index or a point stands beside its word even where the file leaves a little room.
            is_index = style.size < 0.85 * current.style.size and baseline != current.baseline
            is_attached = is_index or char in ",.;:)"
            is_space = self._space and not (is_attached and gap < 0.25 * current.style.size)
            current.gaps.append(max(gap, 0.0) if is_space else -1.0)
            if is_space and gap > _WIDE_GAP * current.style.size:
                current.wide.append((len(current.text), current.right, left))
            current.text.append(char)
            current.left, current.right = min(current.left, left), max(current.right, right)
            self._space = False
            if style.size > current.style.size * 1.15:
                current.style, current.baseline = style, baseline
        assert self._open is not None  # noqa: S101 - set above
        self._open.styles.append(style)
        self._open.widths.append(right - left)

    def _close(self) -> None:
        current, self._open = self._open, None
        if current is not None:
            style = _prevailing(current.styles)
            parts = _with_spaces(current.text, current.gaps)
            if not style.font and _is_of_one_width(current.text, current.widths, style.size):
                style = replace(style, mono=True)
            span = Span(
                "".join(parts), current.left, current.right, current.baseline, style, current.is_spaced
            )
            span.gaps = tuple(
                (len("".join(parts[:index])), left, right) for index, left, right in current.wide
            )
            self.spans.append(span)

    def _take_rotated(self, char: str, turns: int, x: float, y: float, size: float) -> None:
        across = round((x if turns % 2 else y) / max(size, 1.0) * 2)
        parts = self._rotated.setdefault((turns, across), [])
        parts.append(f" {char}" if self._space and parts else char)
        self._space = False

    def _look(self, index: int, rect: Any) -> tuple[Style, int]:
        """Return style and quarter turns of a character, which it shares with its text object."""
        handle = pdfium.FPDFText_GetTextObject(self._raw, index)
        key = ctypes.addressof(handle.contents) if handle else 0
        look = self._objects.get(key)
        if look is None:
            look = self._objects[key] = self._look_at_object(handle, index, rect)
        return look

    def _look_at_object(self, handle: Any, index: int, rect: Any) -> tuple[Style, int]:
        matrix = pdfium.FS_MATRIX()
        size, turns = pdfium.FPDFText_GetFontSize(self._raw, index), 0
        loose = rect.top - rect.bottom
        if handle and pdfium.FPDFPageObj_GetMatrix(handle, ctypes.byref(matrix)):
            size *= math.hypot(matrix.c, matrix.d)
            angle = math.degrees(math.atan2(matrix.b, matrix.a))
            turns = (round(angle / 90) - self._place.quarter_turns) % 4
            loose = (rect.right - rect.left) if round(angle / 90) % 2 else loose
        if not 0.55 * loose < size < 1.8 * loose and loose > _SMALLEST_SIZE and not turns:
            size = loose / 1.2
        return Style(round(max(size, _SMALLEST_SIZE), 1), *self._font(handle)), turns

    def _font(self, handle: Any) -> _Font:
        font = pdfium.FPDFTextObj_GetFont(handle) if handle else None
        key = (ctypes.cast(font, ctypes.c_void_p).value or 0) if font else 0
        if not key:
            return False, False, False, False, ""
        if key not in self._fonts:
            name = _font_name(font)
            flags = pdfium.FPDFFont_GetFlags(font)
            has = partial(_names_any, name)
            is_bold = has(_BOLD_NAMES) or pdfium.FPDFFont_GetWeight(font) >= 600 or bool(flags & _FORCE_BOLD)
            is_mono = has(_MONO_NAMES) or bool(flags & _FIXED_PITCH)
            self._fonts[key] = (
                is_bold,
                has(_ITALIC_NAMES),
                is_mono,
                has(_MATH_NAMES),
                name.partition("+")[2] or name,
            )
        return self._fonts[key]


def _names_any(name: str, parts: tuple[str, ...]) -> bool:
    return any(part in name for part in parts)


def _font_name(font: Any) -> str:
    buffer = ctypes.create_string_buffer(128)
    length = pdfium.FPDFFont_GetBaseFontName(font, buffer, 128)
    return buffer.raw[: max(0, min(length, 128) - 1)].decode("utf-8", "replace").lower()


def _prevailing(styles: list[Style]) -> Style:
    """Return the style most characters have. Styles are shared objects, one for each text object."""
    if all(style is styles[0] for style in styles):
        return styles[0]
    return Counter(styles).most_common(1)[0][0]


def _is_of_one_width(chars: list[str], widths: list[float], size: float) -> bool:
    """Whether narrow and wide letters of a nameless font are equally wide, as in listings."""
    narrow = [width for char, width in zip(chars, widths, strict=True) if char in "iljtfr.,:;()[]'"]
    wide = [width for char, width in zip(chars, widths, strict=True) if char in "mwoeuadnbMWGODSA"]
    return bool(narrow and wide) and max(wide + narrow) - min(narrow + wide) < 0.08 * size


def _with_spaces(chars: list[str], gaps: list[float]) -> list[str]:
    """Return the characters, those after a gap with a space before them, -1 standing for none.

    Where nearly every character stands apart, the text is letter-spaced (listings often are), and only
    the gaps well beyond the usual one are spaces.
    """
    spaced = [gap for gap in gaps if gap >= 0]
    least = 0.0
    if len(chars) > 2 and len(spaced) > 0.6 * len(gaps):
        usual = sorted(spaced)[len(spaced) // 3]
        least = 1.6 * usual + 0.5
    parts = [chars[0]]
    for char, gap in zip(chars[1:], gaps, strict=True):
        parts.append(f" {char}" if gap >= least and gap >= 0 else char)
    return parts


def _continues(current: _Open, left: float, right: float, baseline: float, style: Style) -> bool:
    """Whether a character belongs to the span: near its baseline and directly beside it."""
    size = max(current.style.size, style.size)
    # An index stands off the baseline; a far smaller character belongs beside a large first letter.
    is_index = 0.52 * size < style.size <= 0.85 * size
    if style.size > 0.85 * size and abs(style.size - current.style.size) > 0.04 * size:
        return False
    if abs(baseline - current.baseline) > (0.6 * size if is_index else 0.2 * style.size):
        return False
    return (
        -0.6 * size <= left - current.right <= 0.9 * size or -0.6 * size <= current.left - right <= 0.3 * size
    )
