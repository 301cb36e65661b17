"""The straight lines a PDF page draws, which rule its tables and set off its footnotes."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, Protocol

import pypdfium2.raw as pdfium

from corpus.parsing.pdf_types import Rule

_MOST_OBJECTS = 20_000
_MOST_SEGMENTS = 400
_THICKEST = 2.5
_SHORTEST = 6.0


class Placing(Protocol):
    """Where a rectangle of the page's own space is shown."""

    def box(
        self, left: float, bottom: float, right: float, top: float
    ) -> tuple[float, float, float, float]: ...


def page_rules(page: Any, place: Placing) -> list[Rule]:
    """Return the horizontal and vertical lines of the page, touching ones joined."""
    found: list[Rule] = []
    for _, item in zip(range(_MOST_OBJECTS), _paths(page), strict=False):
        found.extend(_rules_of(item, place))
    return join_touching(found)


def _paths(page: Any) -> Iterator[Any]:
    for index in range(pdfium.FPDFPage_CountObjects(page)):
        item = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_PATH:
            yield item


def _rules_of(item: Any, place: Placing) -> Iterator[Rule]:
    """Yield the lines a path shows: thin boxes, and the straight segments of a drawn one."""
    edges = [ctypes.c_float() for _ in range(4)]
    if not pdfium.FPDFPageObj_GetBounds(item, *(ctypes.byref(edge) for edge in edges)):
        return
    left, top, right, bottom = place.box(*(edge.value for edge in edges))
    rule = _as_rule(left, top, right, bottom)
    if rule is not None:
        yield rule
        return
    count = pdfium.FPDFPath_CountSegments(item)
    if (
        right - left > _SHORTEST
        and bottom - top > _SHORTEST
        and 0 < count <= _MOST_SEGMENTS
        and _is_stroked(item)
    ):
        yield from _segments(item, count, place)


def _is_stroked(item: Any) -> bool:
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(item, ctypes.byref(fill), ctypes.byref(stroke))
    return bool(stroke.value)


def _segments(item: Any, count: int, place: Placing) -> Iterator[Rule]:
    matrix, x, y = pdfium.FS_MATRIX(), ctypes.c_float(), ctypes.c_float()
    pdfium.FPDFPageObj_GetMatrix(item, ctypes.byref(matrix))
    before: tuple[float, float] | None = None
    for index in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(item, index)
        pdfium.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y))
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_LINETO and before is not None:
            rule = _as_rule(*place.box(*before, *point))
            if rule is not None:
                yield rule
        before = point


def _as_rule(left: float, top: float, right: float, bottom: float) -> Rule | None:
    width, height = right - left, bottom - top
    if height <= _THICKEST and width >= _SHORTEST:
        middle = (top + bottom) / 2
        return Rule(left, middle, right, middle)
    if width <= _THICKEST and height >= _SHORTEST:
        middle = (left + right) / 2
        return Rule(middle, top, middle, bottom)
    return None


def join_touching(rules: list[Rule]) -> list[Rule]:
    """Return the rules with those that continue each other made one."""
    joined: list[Rule] = []
    for rule in sorted(
        rules,
        key=lambda one: (
            one.is_horizontal,
            round(one.top if one.is_horizontal else one.left),
            one.left,
            one.top,
        ),
    ):
        last = joined[-1] if joined else None
        if last is not None and _continue_each_other(last, rule):
            joined[-1] = Rule(
                min(last.left, rule.left),
                last.top if rule.is_horizontal else min(last.top, rule.top),
                max(last.right, rule.right),
                last.bottom if rule.is_horizontal else max(last.bottom, rule.bottom),
            )
        else:
            joined.append(rule)
    return joined


def _continue_each_other(first: Rule, second: Rule) -> bool:
    if first.is_horizontal != second.is_horizontal:
        return False
    if first.is_horizontal:
        return abs(first.top - second.top) < 1.5 and second.left <= first.right + 3
    return abs(first.left - second.left) < 1.5 and second.top <= first.bottom + 3
