"""Spans of a page to lines: what stands on one baseline with no more than a word space between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from corpus.parsing.pdf_types import Line, Span

_WIDEST_WORD_SPACE = 0.9


def to_lines(spans: Iterable[Span], *, widest_gap: float = _WIDEST_WORD_SPACE) -> list[Line]:
    """Return the lines of `spans`, top to bottom; gaps beyond `widest_gap` (in type sizes) divide them."""
    return [line for row in rows(list(spans)) for line in Line(list(row)).cells(widest_gap)]


def rows(spans: Sequence[Span]) -> list[list[Span]]:
    """Return the spans of each baseline, top to bottom.

    A smaller span belongs to the row whose body it overlaps: indices and exponents stand off the baseline.
    """
    found: list[list[Span]] = []
    for span in sorted(spans, key=lambda one: (one.baseline, one.left)):
        row = next((row for row in reversed(found[-4:]) if _shares_row(row, span)), None)
        if row is None:
            found.append([span])
        else:
            row.append(span)
    return found


def _shares_row(row: list[Span], span: Span) -> bool:
    anchor = max(row, key=lambda one: one.size)
    larger, smaller = (anchor, span) if anchor.size >= span.size else (span, anchor)
    # Far smaller beside far larger is a first letter over several lines, not an index.
    is_far_smaller = smaller.size <= 0.52 * larger.size
    is_first_letter = len(larger.text) == 1 and larger.text.isalpha()
    if is_far_smaller and (is_first_letter or not _touches(row, span)):
        return False
    if abs(anchor.baseline - span.baseline) <= 0.35 * smaller.size:
        return True
    if is_far_smaller or smaller.size >= 0.88 * larger.size or not _touches(row, span):
        return False
    overlap = min(larger.bottom, smaller.bottom) - max(larger.top, smaller.top)
    return overlap > 0.4 * (smaller.bottom - smaller.top)


def _touches(row: list[Span], span: Span) -> bool:
    """Whether the span stands directly beside one of the row, as an index does."""
    reach = 0.6 * span.size
    return any(one.left - reach <= span.right and span.left <= one.right + reach for one in row)
