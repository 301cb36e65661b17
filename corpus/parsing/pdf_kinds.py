"""What a paragraph of a PDF is, told by its type first and by its words second."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from corpus.headings import heading_level
from corpus.parsing.blocks import BlockKind
from corpus.parsing.pdf_heading_levels import depth_of, levels_of, without_items
from corpus.parsing.pdf_paragraphs import BULLET, CAPTION, DASH_ITEM, NUMBERED_ITEM, Paragraph

_LEADERS = re.compile(r"(?:\.\s?){4,}|(?:\u2026\s?){2,}")
_NOTE_MARK = re.compile(r"(?:\d{1,2}|[*\u2020\u2021\u00a7\u00b6a-f])\s?(?=[A-Z\"\u201c(h])")
_EQUATION_NUMBER = re.compile(r"\(\d{1,3}(?:\.\d{1,3})?[a-z]?\)$")
_LONG_WORD = re.compile(r"[^\W\d_]{3}")
_LONGEST_HEADING = 220
_LONGEST_LABEL = 60
_LONG_PARAGRAPH = 200


class Kinds:
    """The kinds of one document's paragraphs: its body type and heading types are found first."""

    def __init__(self, paragraphs: Sequence[Paragraph], heights: Mapping[int, float]) -> None:
        self._heights = heights
        self._body = _body_size(paragraphs)
        self._mono_body = _share_of_mono(paragraphs) > 0.5
        self._title = self._find_title(paragraphs)
        self.title = " ".join(_text(part) for part in self._title)
        self._title_ids = {id(part) for part in self._title}
        self._below = {id(part): below for part, below in pairwise(paragraphs)}
        around = self._credits(paragraphs)
        headings = [
            part
            for part in paragraphs
            if id(part) not in self._title_ids and id(part) not in around and self._is_heading(part)
        ]
        headings = without_items(headings, paragraphs, largest=1.08 * self._body + 0.2)
        known = {id(part) for part in headings} | self._title_ids | around
        headings += self._in_their_type(headings, [part for part in paragraphs if id(part) not in known])
        self._levels = levels_of([(_look(part), depth_of(_text(part))) for part in headings])
        self._heading_ids = {id(part) for part in headings}

    def of(self, part: Paragraph) -> tuple[BlockKind, int]:
        """Return the kind of a paragraph, and its level where it is a heading."""
        if id(part) in self._title_ids:
            return BlockKind.HEADING, 1
        if id(part) in self._heading_ids:
            return BlockKind.HEADING, depth_of(_text(part)) or self._levels.get(_look(part), 2)
        return self._kind_of_text(part), 0

    def is_same_heading(self, first: Paragraph, second: Paragraph) -> bool:
        """Whether `second`, a heading below the heading `first`, is its next line."""
        gap, size = second.top - first.bottom, second.style.size
        if _look(first) != _look(second) or depth_of(_text(second)) or gap > 0.9 * size:
            return False
        return gap < 0.35 * size or heading_level(_text(second)) != 1

    def is_label(self, part: Paragraph) -> bool:
        """Whether the paragraph is a label in a figure, small and no sentence, or an ornament."""
        text = _text(part)
        if not any(char.isalnum() for char in text):
            return True
        is_short = len(text) <= _LONGEST_LABEL * len(part.lines) and not text.endswith(".")
        return is_short and part.style.size < 0.93 * self._body

    def _kind_of_text(self, part: Paragraph) -> BlockKind:
        text = _text(part)
        if part.share("mono") > 0.8 and not self._mono_body:
            return BlockKind.CODE
        if self._is_caption(part, text):
            return BlockKind.CAPTION
        if self._is_footnote(part, text):
            return BlockKind.FOOTNOTE
        if any(mark.match(text) for mark in (BULLET, DASH_ITEM, NUMBERED_ITEM)):
            return BlockKind.LIST_ITEM
        return BlockKind.EQUATION if _is_equation(part, text) else BlockKind.PARAGRAPH

    def _is_caption(self, part: Paragraph, text: str) -> bool:
        found = CAPTION.match(text)
        if found is None:
            return False
        is_smaller = part.style.size < self._body - 0.4
        return found["mark"] is not None or is_smaller or part.first_style.bold

    def _is_footnote(self, part: Paragraph, text: str) -> bool:
        is_small = part.style.size < 0.93 * self._body
        is_low = part.top > 0.55 * self._heights.get(part.page, 1e9)
        return is_small and is_low and _NOTE_MARK.match(text) is not None

    def _is_heading(self, part: Paragraph) -> bool:
        text = _text(part)
        if not 2 <= len(text) <= _LONGEST_HEADING or len(part.lines) > 4 or _LEADERS.search(text):
            return False
        if sum(char.isalpha() for char in text) < max(2, 0.3 * len(text)) or part.share("math") > 0.3:
            return False
        if BULLET.match(text) or self._is_caption(part, text) or _has_page_number(part):
            return False
        if not _begins_like_heading(text) or _is_row_of_labels(part):
            return False
        return self._stands_out(part, text)

    def _stands_out(self, part: Paragraph, text: str) -> bool:
        size, words = part.style.size, text.split()
        is_sentence = text.endswith((".", ";", ",")) and len(words) > 3
        if size > 1.08 * self._body + 0.2 and not text.endswith(",") and len(words) <= 25:
            is_clear = size > 1.17 * self._body or part.share("bold") > 0.85 or len(words) <= 12
            return is_clear and not (is_sentence and len(words) > 12)
        if part.share("bold") > 0.85 and size > 0.92 * self._body:
            return not is_sentence and len(words) <= 20
        in_margin = part.top < 0.07 * self._heights.get(part.page, 0.0)
        if _is_italic_title(part, words) and size > 0.95 * self._body and not is_sentence and not in_margin:
            return True
        if len(part.lines) > 2 or size < (0.7 if len(words) < 4 else 0.92) * self._body:
            return False
        level = heading_level(text.removesuffix(".") if depth_of(text) > 1 else text)
        return level is not None and (level == 1 or text[0].isdigit()) and not _is_listed(text)

    def _heads_text(self, part: Paragraph) -> bool:
        """Whether the line stands right above running text that is no larger: methods are often small."""
        text, below = _text(part), self._below.get(id(part))
        if below is None or below.page != part.page or len(_text(below)) < _LONG_PARAGRAPH:
            return False
        is_near = 0 <= below.top - part.bottom < below.style.size
        is_flush = abs(below.lines[0].left - part.lines[0].left) < 2 * below.style.size
        is_line = len(text) >= 8 and len(text.split()) <= 20 and not text.endswith((".", ";", ","))
        return is_line and is_near and is_flush and part.style.size >= below.style.size - 0.1

    def _in_their_type(self, headings: Sequence[Paragraph], others: Sequence[Paragraph]) -> list[Paragraph]:
        """Return the lines above text that are bold, or in a font that only headings have."""
        fonts = {part.style.font for part in headings if part.style.font}
        return [
            part
            for part in others
            if len(part.lines) < 3
            and (part.share("bold") > 0.85 or part.style.font in fonts)
            and self._heads_text(part)
            and part.style.font != self._below[id(part)].style.font
            and _begins_like_heading(_text(part))
            and not self._is_caption(part, _text(part))
            and not BULLET.match(_text(part))
        ]

    def _find_title(self, paragraphs: Sequence[Paragraph]) -> list[Paragraph]:
        """Return the paragraphs of the largest type on the first page, when larger than the body."""
        if not paragraphs:
            return []
        first_page = [part for part in paragraphs if part.page == paragraphs[0].page]
        candidates = [part for part in first_page if _may_be_title(_text(part))]
        largest = max((part.style.size for part in candidates), default=0.0)
        if largest < 1.15 * self._body:
            return []
        title = [part for part in candidates if part.style.size >= largest - 0.3]
        joined = title[:1]
        for part in title[1:]:
            if part.top - joined[-1].bottom < 2.5 * largest:
                joined.append(part)
        return joined if len(" ".join(_text(part) for part in joined)) <= 400 else []

    def _credits(self, paragraphs: Sequence[Paragraph]) -> set[int]:
        """Return the ids of what stands around the title: the journal, the authors, where they work."""
        if not self._title:
            return set()
        start = next(place for place, part in enumerate(paragraphs) if part is self._title[-1])
        found = {id(part) for part in paragraphs[:start] if part.page == self._title[-1].page}
        for part in paragraphs[start + 1 :]:
            text = _text(part)
            is_text = len(text) >= _LONG_PARAGRAPH and part.style.size <= 1.08 * self._body + 0.2
            if (
                part.page != self._title[-1].page
                or is_text
                or heading_level(text) == 1
                or _is_numbered_heading(text)
            ):
                break
            found.add(id(part))
        return found


def _text(part: Paragraph) -> str:
    return " ".join(line.text for line in part.lines).strip()


def _may_be_title(text: str) -> bool:
    is_section = text[:1].isdigit() and heading_level(text) is not None
    return sum(char.isalpha() for char in text) >= 8 and not is_section and heading_level(text) != 1


def _look(part: Paragraph) -> tuple[float, bool]:
    return round(part.style.size * 2) / 2, part.share("bold") > 0.5


def _body_size(paragraphs: Sequence[Paragraph]) -> float:
    counts: Counter[float] = Counter()
    for part in paragraphs:
        for line in part.lines:
            counts[line.style.size] += len(line.text)
    if not counts:
        return 10.0
    # Sizes that differ by rounding are one; of two that share the text, the larger is the body and the
    # smaller that of notes and references.
    near = {size: sum(n for other, n in counts.items() if abs(other - size) <= 0.15) for size in counts}
    most = max(near.values())
    return max(size for size, count in near.items() if count >= 0.6 * most)


def _begins_like_heading(text: str) -> bool:
    """Whether the first word has a capital or a figure, and some word is long enough to be one."""
    first = text.split(maxsplit=1)[0]
    is_capital = first[0].isdigit() or any(char.isupper() for char in first)
    return is_capital and (depth_of(text) > 1 or _LONG_WORD.search(text) is not None)


def _is_row_of_labels(part: Paragraph) -> bool:
    """Whether words stand far apart on one line, as in a figure; a section number may."""
    for line in part.lines:
        cells = line.cells(1.6)
        if len(cells) > 2 or (len(cells) == 2 and len(cells[0].text) > 8):
            return True
    return False


def _is_italic_title(part: Paragraph, words: Sequence[str]) -> bool:
    is_short = (
        len(part.lines) == 1
        and len(words) <= 10
        and part.lines[0].right < part.column_right - 4 * part.style.size
    )
    return is_short and part.share("italic") > 0.95 and words[0][:1].isupper() and part.share("math") < 0.1


def _is_numbered_heading(text: str) -> bool:
    return text[:1].isdigit() and heading_level(text) is not None


def _share_of_mono(paragraphs: Sequence[Paragraph]) -> float:
    mono = total = 0
    for part in paragraphs:
        for line in part.lines:
            total += len(line.text)
            mono += len(line.text) * line.style.mono
    return mono / total if total else 0.0


def _has_page_number(part: Paragraph) -> bool:
    """Whether a number stands far right of the words, as in a table of contents."""
    spans = part.lines[-1].spans
    if len(spans) < 2 or not spans[-1].text.strip().isdigit():
        return False
    return spans[-1].left - spans[-2].right > 2 * part.style.size


def _is_listed(text: str) -> bool:
    return NUMBERED_ITEM.match(text) is not None and text.endswith((".", ";"))


def _is_equation(part: Paragraph, text: str) -> bool:
    if len(text) > 250 or len(part.lines) > 8:
        return False
    is_set_off = part.lines[0].left > part.column_left + 1.5 * part.style.size
    is_numbered = _EQUATION_NUMBER.search(text) is not None
    math = part.share("math")
    return math > 0.45 or (is_set_off and math > 0.2) or (is_numbered and ("=" in text or math > 0.1))
