"""What the steps of the PDF layout hand to each other. Points, origin at the top left, y downwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from corpus.parsing.blocks import Box

_HANGING_NAMES = ("cmex", "txex", "pxex", "mtex", "mathex", "esint")


@dataclass(frozen=True, slots=True)
class Style:
    """How characters look, as far as layout cares."""

    size: float
    bold: bool = False
    italic: bool = False
    mono: bool = False
    math: bool = False
    font: str = ""

    @property
    def hangs(self) -> bool:
        """Whether its signs, large brackets and sums, hang from the baseline: how far only the font knows."""
        return any(name in self.font for name in _HANGING_NAMES)


@dataclass(slots=True, eq=False)
class Span:
    """Characters that follow each other on one baseline without a gap wider than a word space."""

    text: str
    left: float
    right: float
    baseline: float
    style: Style
    is_spaced: bool = False  # whether a space stood before it in the content
    gaps: tuple[tuple[int, float, float], ...] = ()  # where in the text, and from where to where on the line

    @property
    def size(self) -> float:
        return self.style.size

    def parts(self, widest_space: float) -> list[Span]:
        """Return the span cut where words stand further apart than `widest_space` (in type sizes)."""
        found: list[Span] = []
        start, begin, spaced = 0, self.left, self.is_spaced
        for place, left, right in self.gaps:
            if right - left >= widest_space * self.size:
                text = self.text[start:place].strip()
                found.append(Span(text, begin, left, self.baseline, self.style, spaced))
                start, begin, spaced = place, right, True
        if not found:
            return [self]
        return [
            *found,
            Span(self.text[start:].strip(), begin, self.right, self.baseline, self.style, spaced),
        ]

    @property
    def top(self) -> float:
        return self.baseline - 0.75 * self.style.size

    @property
    def bottom(self) -> float:
        return self.baseline + 0.22 * self.style.size


@dataclass(slots=True, eq=False)
class Line:
    """Spans side by side that are read together, left to right."""

    spans: list[Span]
    left: float = field(init=False)
    right: float = field(init=False)
    baseline: float = field(init=False)
    style: Style = field(init=False)
    top: float = field(init=False)
    bottom: float = field(init=False)
    text: str = field(init=False)
    box: Box | None = field(init=False, default=None)  # on the page, once it is known which one

    def __post_init__(self) -> None:
        self.spans.sort(key=lambda span: span.left)
        if any(second.right < first.right and first.gaps for first, second in pairwise(self.spans)):
            self._open_gaps()
        largest = max(self.spans, key=lambda span: len(span.text))
        self.style, self.baseline = largest.style, largest.baseline
        self.left = self.spans[0].left
        self.right = max(span.right for span in self.spans)
        self.top = min(span.top for span in self.spans)
        self.bottom = max(span.bottom for span in self.spans)
        self.text = self._joined()

    @property
    def size(self) -> float:
        return self.style.size

    @property
    def height(self) -> float:
        return self.bottom - self.top

    def _open_gaps(self) -> None:
        """Cut spans where another one, drawn later, stands in a gap of theirs."""
        found: list[Span] = []
        for span in self.spans:
            holds = any(
                other is not span and left - 1 < other.left and other.right < right + 1
                for _, left, right in span.gaps
                for other in self.spans
            )
            found.extend(span.parts(0.0) if holds else [span])
        self.spans = sorted(found, key=lambda span: span.left)

    def _joined(self) -> str:
        """Return the words of the line; a space wherever spans stand apart."""
        parts = [self.spans[0].text]
        for before, span in pairwise(self.spans):
            gap = span.left - before.right
            is_apart = gap > (0.03 if span.is_spaced else 0.12) * max(before.size, span.size)
            parts.append(f" {span.text}" if is_apart else span.text)
        return "".join(parts)

    def cells(self, widest_space: float) -> list[Line]:
        """Return the parts of the line that stand further apart than `widest_space` (in type sizes)."""
        groups = [[self.spans[0]]]
        for span in self.spans[1:]:
            before = max(groups[-1], key=lambda one: one.right)
            if span.left - before.right >= widest_space * min(before.size, span.size):
                groups.append([])
            groups[-1].append(span)
        return [Line(group) for group in groups]


@dataclass(frozen=True, slots=True)
class Rule:
    """A drawn line: horizontal where top equals bottom, else vertical."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def is_horizontal(self) -> bool:
        return self.right - self.left >= self.bottom - self.top


@dataclass(slots=True, eq=False)
class Page:
    """The text and rules of one page."""

    number: int
    width: float
    height: float
    spans: list[Span]
    rotated: list[str]
    rules: list[Rule]
    characters: int = 0
    unmapped: int = 0
