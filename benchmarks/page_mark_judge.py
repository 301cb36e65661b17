"""Whether marks on a page lie over a passage, by another reading than the one they came from.

The reading is pdfium's alone: its characters in the order of the file, at the places at which it would draw
them. A letter is the passage's when it stands in a run of ten that the passage has too, whatever the spaces,
accents and capitals. What is in no such run, as in formulas and cells of tables, is the passage's as long as
the passage has letters of that kind left that are in no run either.

Of a mark each line is judged: one with hardly a letter of the passage makes the mark wrong. What the passage
has on a marked page, and lies under no mark, is missed.
"""

from __future__ import annotations

import ctypes
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import pypdfium2
import pypdfium2.raw as pdfium

from corpus.parsing.pdf_characters import turns_to_read

if TYPE_CHECKING:
    from corpus.page_views import Mark

RUN = 10
FEWEST_TOLD, FEWEST_OF_LINE = 4, 8
LEAST_OF_LINE, LEAST_OF_MARK = 0.2, 0.5
# More than words that come together by themselves, less than a line.
PHRASE = 30
_SCALE = 1000.0
_FINE = 100_000


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter or digit where pdfium draws it, in thousandths of the page from the top left."""

    char: str
    x: float
    y: float
    baseline: float
    height: float


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The letters of a page in the order of the file, and every other sign on it."""

    letters: tuple[Letter, ...]
    signs: tuple[Letter, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong with a mark; an empty string for nothing. `under` are the letters it lies over.

    Fewer than four letters tell nothing: a passage has them in any case.
    """

    fault: str
    under: str
    is_telling: bool = True


def letters_of(text: str) -> str:
    """Return the letters and digits of `text`, without accents and capitals."""
    return "".join(char for char in unicodedata.normalize("NFKD", text).casefold() if _is_letter(char))


def _is_letter(char: str) -> bool:
    return char.isalnum() and unicodedata.category(char) != "Lm"


def read(document: pypdfium2.PdfDocument, number: int) -> Reading:
    """Read a page."""
    page = document[number - 1]
    text = page.get_textpage()
    turns = turns_to_read(page)
    try:
        found = list(_signs(page, text.raw, turns))
    finally:
        text.close()
    letters = tuple(sign for sign in found if sign.char)
    signs = tuple(sign for sign in found if not sign.char)
    return Reading(letters, signs, "".join(letter.char for letter in letters))


def _signs(page: pypdfium2.PdfPage, text: Any, turns: int) -> Iterator[Letter]:
    edges = [ctypes.c_double() for _ in range(4)]
    origin = ctypes.c_double(), ctypes.c_double()
    high = 0
    for index in range(pdfium.FPDFText_CountChars(text)):
        code = pdfium.FPDFText_GetUnicode(text, index)
        if 0xD800 <= code < 0xDC00:
            high = code
            continue
        if 0xDC00 <= code < 0xE000:
            code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00) if high else 0xFFFD
            high = 0
        if chr(code).isspace():
            continue
        own = letters_of(chr(code))
        pdfium.FPDFText_GetCharBox(text, index, *(ctypes.byref(edge) for edge in edges))
        pdfium.FPDFText_GetCharOrigin(text, index, *(ctypes.byref(axis) for axis in origin))
        left, right, bottom, top = (edge.value for edge in edges)
        x0, y0 = _drawn(page, turns, left, bottom)
        x1, y1 = _drawn(page, turns, right, top)
        baseline = _drawn(page, turns, origin[0].value, origin[1].value)[1]
        for char in own or ("",):
            yield Letter(char, (x0 + x1) / 2, (y0 + y1) / 2, baseline, abs(y1 - y0))


def _drawn(page: pypdfium2.PdfPage, turns: int, x: float, y: float) -> tuple[float, float]:
    """Return where pdfium draws a point of the page, in thousandths of the picture."""
    across, down = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDF_PageToDevice(
        page.raw, 0, 0, _FINE, _FINE, turns, x, y, ctypes.byref(across), ctypes.byref(down)
    )
    return across.value * _SCALE / _FINE, down.value * _SCALE / _FINE


class Judge:
    """Judges the marks of one passage against the letters of the pages they are on."""

    def __init__(self, body: str, pages: Sequence[Reading]) -> None:
        said = letters_of(body)
        runs = set(_runs(said, RUN))
        self._phrases = set(_runs(said, PHRASE))
        self._found = {page: _covered(page.text, runs) for page in pages}
        seen = {run for page in pages for run in _runs(page.text, RUN)}
        covered = _covered(said, seen)
        self._left = Counter(char for char, is_found in zip(said, covered, strict=True) if not is_found)

    def mark(self, page: Reading, mark: Mark) -> Verdict:
        """Return what is wrong with a mark on one of the pages."""
        found = zip(page.letters, self._found[page], strict=True)
        under = [(letter, is_found) for letter, is_found in found if is_under(letter, mark)]
        text = "".join(letter.char for letter, _ in under)
        if 0 < len(under) < FEWEST_TOLD:
            return Verdict("", text, is_telling=False)
        if not under:
            is_empty = not any(is_under(sign, mark) for sign in page.signs)
            return Verdict("nothing under it" if is_empty else "", "")
        if self._held(under) < LEAST_OF_MARK * len(under):
            return Verdict("less than half", text)
        for line in _lines(under):
            if len(line) >= FEWEST_OF_LINE and self._held(line) < LEAST_OF_LINE * len(line):
                return Verdict("a line of something else", "".join(letter.char for letter, _ in line))
        return Verdict("", text)

    def missed(self, marked: Mapping[Reading, Sequence[Mark]]) -> dict[Reading, str]:
        """Return for each page what the passage has there and no mark on any page lies over."""
        bare: dict[str, Reading] = {}
        under: set[str] = set()
        for page, marks in marked.items():
            is_marked = [any(is_under(letter, mark) for mark in marks) for letter in page.letters]
            for at, phrase in enumerate(_runs(page.text, PHRASE)):
                if phrase not in self._phrases:
                    continue
                if sum(is_marked[at : at + PHRASE]) * 2 >= PHRASE:
                    under.add(phrase)
                else:
                    bare.setdefault(phrase, page)
        return {page: phrase for phrase, page in bare.items() if phrase not in under}

    def _held(self, letters: Sequence[tuple[Letter, bool]]) -> int:
        """Count the letters that are the passage's."""
        left = self._left.copy()
        return sum(is_found or _take(left, letter.char) for letter, is_found in letters)


def _runs(text: str, length: int) -> Iterator[str]:
    return (text[at : at + length] for at in range(len(text) - length + 1))


def _covered(text: str, runs: Set[str]) -> list[bool]:
    """Say of each letter whether it stands in one of the runs."""
    covered = [False] * len(text)
    for at, run in enumerate(_runs(text, RUN)):
        if run in runs:
            covered[at : at + RUN] = [True] * RUN
    return covered


def _take(left: Counter[str], char: str) -> bool:
    if left[char] <= 0:
        return False
    left[char] -= 1
    return True


def is_under(letter: Letter, mark: Mark) -> bool:
    """Whether the middle of the letter lies under the mark."""
    return mark.left <= letter.x <= mark.left + mark.width and mark.top <= letter.y <= mark.top + mark.height


def _lines(under: Sequence[tuple[Letter, bool]]) -> Iterator[list[tuple[Letter, bool]]]:
    """Yield what stands on one baseline, top to bottom."""
    apart = pitch_of([letter for letter, _ in under]) / 2
    line: list[tuple[Letter, bool]] = []
    for one in sorted(under, key=lambda pair: pair[0].baseline):
        if line and one[0].baseline - line[0][0].baseline > apart:
            yield line
            line = []
        line.append(one)
    if line:
        yield line


def pitch_of(letters: Sequence[Letter]) -> float:
    """Return about how far apart lines of such letters stand: letters are half as high as their type."""
    return 2.2 * median(letter.height for letter in letters)
