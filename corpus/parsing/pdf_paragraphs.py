"""Lines of a column to paragraphs, by indent, leading, type and what the lines say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median

from corpus.parsing.blocks import Box
from corpus.parsing.pdf_lines import rows
from corpus.parsing.pdf_types import Line, Style

BULLET = re.compile(r"[\u2022\u2023\u25aa\u25ab\u25cf\u25cb\u25e6\u2043\u2219\u00b7\u25a0\u2713]\s*(?=\S)")
DASH_ITEM = re.compile(r"(?:[\u2013\u2014-]\s+|\u2014)(?=[A-Z\"(])")
NUMBERED_ITEM = re.compile(r"(?:\(?\d{1,2}[.)]|\(?[a-z][.)]|\([ivx]{1,4}\))\s+(?=\S)")
ENTRY = re.compile(r"\[\d{1,4}\]\s*\S|\[[A-Z][\w+]{1,12}\]\s")
CAPTION = re.compile(
    r"(?:supplementary\s+|extended\s+data\s+)?(?:fig(?:ure|\.)?|table|tab\.|scheme|chart|box|plate|listing|code|algorithm|exhibit)"
    r"\s*(?:[A-Z]{0,2}[.-]?\d{1,3}(?:[.-]\d{1,3})*[A-Za-z]?|[IVX]{1,5})\b\s*(?P<mark>[.:|\u2014\u2013)-])?",
    re.IGNORECASE,
)
_ENDS_SENTENCE = (".", "?", "!", ":", ";", "\u201d", '"')


def is_item(text: str) -> bool:
    """Whether `text` begins like an item: with a bullet, a dash, a number or a reference's label."""
    return any(mark.match(text) for mark in (BULLET, DASH_ITEM, NUMBERED_ITEM, ENTRY))


@dataclass(slots=True, eq=False)
class Paragraph:
    """Lines that are read as one, on one page or continued over several columns and pages."""

    lines: list[Line]
    page: int
    column_left: float
    column_right: float
    boxes: list[Box] = field(default_factory=list)

    @property
    def style(self) -> Style:
        """The style most of the characters have."""
        counts: Counter[Style] = Counter()
        for line in self.lines:
            for span in line.spans:
                counts[span.style] += len(span.text)
        return counts.most_common(1)[0][0]

    @property
    def first_style(self) -> Style:
        """The style it begins with."""
        return self.lines[0].spans[0].style

    @property
    def top(self) -> float:
        return self.lines[0].top

    @property
    def bottom(self) -> float:
        return self.lines[-1].bottom

    def share(self, trait: str) -> float:
        """Return the share of characters whose style has `trait` ("bold", "mono", "math", "italic")."""
        total = having = 0
        for line in self.lines:
            for span in line.spans:
                total += len(span.text)
                having += len(span.text) * bool(getattr(span.style, trait))
        return having / total if total else 0.0


def stream_rows(lines: Sequence[Line]) -> list[Line]:
    """Return what stands on one baseline of a column as one line, a large first letter put to its word."""
    merged = [Line(list(row)) for row in rows([span for line in lines for span in line.spans])]
    return _with_drop_caps(merged)


def _with_drop_caps(lines: list[Line]) -> list[Line]:
    if len(lines) < 3:
        return lines
    usual = median(line.size for line in lines)
    capitals = [line for line in lines if _is_capital(line, usual)]
    used: set[int] = set()
    kept: list[Line] = []
    for line in lines:
        capital = next((one for one in capitals if id(one) not in used and _begins(one, line)), None)
        if capital is None:
            kept.append(line)
            continue
        used.add(id(capital))
        first = line.spans[0]
        kept.append(Line([replace(first, text=capital.text + first.text, gaps=()), *line.spans[1:]]))
    return [line for line in kept if id(line) not in used]


def _is_capital(line: Line, usual: float) -> bool:
    return len(line.text) == 1 and line.text.isupper() and line.size > 1.8 * usual


def _begins(capital: Line, line: Line) -> bool:
    is_beside = -0.2 * capital.size <= line.left - capital.right <= 0.5 * capital.size
    return is_beside and abs(line.top - capital.top) < 0.6 * capital.size and line.text[:1].islower()


def to_paragraphs(lines: Sequence[Line], page: int) -> list[Paragraph]:
    """Return the paragraphs of one column, top to bottom."""
    if not lines:
        return []
    left, right = _edges(lines)
    leading = _leading(lines)
    paragraphs: list[Paragraph] = []
    current: list[Line] = []
    for place, line in enumerate(lines):
        following = lines[place + 1] if place + 1 < len(lines) else None
        if current and _Break(current, line, following, left, right, leading).is_one():
            paragraphs.append(Paragraph(current, page, left, right))
            current = []
        current.append(line)
    paragraphs.append(Paragraph(current, page, left, right))
    return paragraphs


def _edges(lines: Sequence[Line]) -> tuple[float, float]:
    """Return where most lines begin, and where the full ones end."""
    lefts: Counter[int] = Counter()
    for line in lines:
        lefts[round(line.left / 2)] += len(line.text)
    common = lefts.most_common(1)[0][0] * 2
    near = [line.left for line in lines if abs(line.left - common) <= 2]
    rights = sorted(line.right for line in lines)
    return min(near, default=float(common)), rights[int(len(rights) * 0.85)] if len(rights) > 3 else rights[
        -1
    ]


def _leading(lines: Sequence[Line]) -> float:
    steps = [
        second.baseline - first.baseline
        for first, second in pairwise(lines)
        if abs(first.size - second.size) < 0.6 and 0 < second.baseline - first.baseline < 2.2 * first.size
    ]
    return median(steps) if steps else 1.25 * median(line.size for line in lines)


@dataclass(slots=True, eq=False)
class _Break:
    """Whether a paragraph ends before a line."""

    current: list[Line]
    line: Line
    following: Line | None
    left: float
    right: float
    leading: float

    def is_one(self) -> bool:
        """Whether it does."""
        return (
            self._by_type()
            or self._by_distance()
            or self._by_words()
            or self._by_indent()
            or self._by_short_line()
        )

    @property
    def _before(self) -> Line:
        return self.current[-1]

    def _by_type(self) -> bool:
        before, line = self._before, self.line
        is_far = max(before.size, line.size) > 1.6 * min(before.size, line.size)
        if not _share_size(before, line) and (is_far or min(len(before.text), len(line.text)) > 3):
            return True
        is_wrapped = line.style.mono and not before.style.mono and not self._ends()
        return (not is_wrapped and _is_code_border(before, line)) or _is_bold(before) != _is_bold(line)

    def _by_distance(self) -> bool:
        step = self.line.baseline - self._before.baseline
        usual = (
            max(self.leading * min(1.0, self.line.size / 9), 1.1 * self.line.size)
            if self.line.size < 7
            else self.leading
        )
        return step > 1.35 * usual + 0.5 and step > 1.3 * self.line.size

    def _by_words(self) -> bool:
        text = self.line.text
        if BULLET.match(text) or (ENTRY.match(text) and ENTRY.match(self.current[0].text)):
            return True
        if CAPTION.match(text) and (_is_marked(text) or self.line.spans[0].style.bold):
            return self._ends()
        return is_item(text) and self._ends()

    def _by_indent(self) -> bool:
        em = 0.9 * self.line.size
        if self._hangs():
            return False
        indent, indent_before = self.line.left - self.left, self._before.left - self.left
        if indent - indent_before > em and indent < 8 * em:
            is_first_line = self.following is None or self.following.left < self.line.left - em * 0.6
            return is_first_line and self._ends()
        if indent_before - indent > em and len(self.current) > 1:
            # Back at the edge after hanging lines.
            return self.current[-2].left - self.left > em or self._is_after_hanging()
        return False

    def _hangs(self) -> bool:
        """Whether the line continues an item whose mark or number stands out to the left of it."""
        first = self.current[0]
        return is_item(first.text) and 2 < self.line.left - first.left < 4 * first.size

    def _is_after_hanging(self) -> bool:
        first = self.current[0].left
        return self.line.left <= first + 1 and all(line.left > first + 3 for line in self.current[1:])

    def _by_short_line(self) -> bool:
        width = self.right - self.left
        is_short = self._before.right < self.right - 0.12 * width
        begins = self.line.text[:1]
        if not is_short or not (begins.isupper() or begins.isdigit()):
            return False
        return self._before.text.endswith(_ENDS_SENTENCE[:4]) or self._changes_font()

    def _changes_font(self) -> bool:
        """Whether a short first line is set in a font of its own: a heading right above its text."""
        fonts = {span.style.font for span in self._before.spans}
        is_alone = len(self.current) == 1 and len(fonts) == 1
        return is_alone and self.line.style.font not in fonts and self.line.spans[0].style.font not in fonts

    def _ends(self) -> bool:
        """Whether the line before may be the last of its paragraph."""
        before = self._before
        is_short = before.right < self.right - 2 * before.size
        return is_short or before.text.endswith(_ENDS_SENTENCE) or before.text.endswith(")")


def _is_bold(line: Line) -> bool:
    bold = sum(len(span.text) for span in line.spans if span.style.bold)
    return bold > 0.85 * len(line.text.replace(" ", "") or "x")


def _share_size(first: Line, second: Line) -> bool:
    """Whether words of both lines are of one size; a name set in another type does not change the line."""
    sizes = {span.size for span in second.spans if len(span.text) > 2} or {second.size}
    return (
        any(
            abs(span.size - size) <= 0.09 * size
            for span in first.spans
            if len(span.text) > 2
            for size in sizes
        )
        or abs(first.size - second.size) <= 0.09 * second.size
    )


def _is_code_border(first: Line, second: Line) -> bool:
    """Whether one line is all of one width and the other not at all: an address in the text is no code."""
    if first.style.mono == second.style.mono:
        return False
    code, text = (first, second) if first.style.mono else (second, first)
    return all(span.style.mono for span in code.spans) and not any(span.style.mono for span in text.spans)


def _is_marked(text: str) -> bool:
    found = CAPTION.match(text)
    return found is not None and found["mark"] is not None
