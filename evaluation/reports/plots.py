"""Plots as SVG: every mark has a shape and its number beside it, so that colour is never needed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _ROW, _TOP, _LEFT, _RIGHT = 760, 28, 74, 190, 190
_INK, _PALE, _PAPER = "#1c2330", "#c9ced8", "#ffffff"
_FONT = "font-family='system-ui, sans-serif' font-size='13'"
_TICKS = 5


@dataclass(frozen=True, slots=True)
class Mark:
    """One row: its value with an interval, or the word that stands for both.

    `word` is "better", "worse" or what else is to be said; `is_first` marks what the others compare with.
    """

    label: str
    value: float | None
    interval: tuple[float, float] | None = None
    word: str = ""
    is_first: bool = False


def plot(title: str, about: str, marks: Sequence[Mark], *, low: float, high: float) -> str:
    """Return a plot of `marks` between `low` and `high`, one below the other, as an SVG document."""
    scale = _Scale(low, high)
    height = _TOP + _ROW * len(marks) + 44
    rows = "".join(_row(mark, scale, _TOP + _ROW * number) for number, mark in enumerate(marks))
    described = "; ".join(f"{mark.label} {_said(mark)}" for mark in marks)
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' role='img' "
        f"viewBox='0 0 {_WIDTH} {height}' width='{_WIDTH}' height='{height}' {_FONT}>"
        f"<title>{escape(title)}</title><desc>{escape(about)} {escape(described)}</desc>"
        f"<rect width='{_WIDTH}' height='{height}' fill='{_PAPER}'/>"
        f"<text x='12' y='24' font-size='15' font-weight='600' fill='{_INK}'>{escape(title)}</text>"
        f"<text x='12' y='44' fill='{_INK}'>{escape(about)}</text>"
        f"{_axis(scale, height)}{rows}</svg>"
    )


def span(marks: Sequence[Mark]) -> tuple[float, float]:
    """Return bounds around zero that hold every value and interval, the same on both sides."""
    ends = [abs(end) for mark in marks for end in (mark.interval or ()) + ((mark.value or 0.0),)]
    widest = max([0.05, *ends]) * 1.1
    return -widest, widest


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float

    def x(self, value: float) -> float:
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT), 1)


def _axis(scale: _Scale, height: int) -> str:
    parts = []
    bottom = height - 36
    for number in range(_TICKS):
        value = scale.low + (scale.high - scale.low) * number / (_TICKS - 1)
        x = scale.x(value)
        is_zero = abs(value) < 1e-9 and scale.low < 0
        dash = "" if is_zero else " stroke-dasharray='2 4'"
        parts.append(
            f"<path d='M{x} {_TOP - 14}V{bottom}' stroke='{_INK if is_zero else _PALE}'{dash}/>"
            f"<text x='{x}' y='{bottom + 18}' text-anchor='middle' fill='{_INK}'>{value:.2f}</text>"
        )
    return "".join(parts)


def _row(mark: Mark, scale: _Scale, y: int) -> str:
    label = f"<text x='12' y='{y + 5}' fill='{_INK}'>{escape(mark.label)}</text>"
    said = f"<text x='{_WIDTH - _RIGHT + 14}' y='{y + 5}' fill='{_INK}'>{escape(_said(mark))}</text>"
    if mark.value is None:
        return label + said
    line = ""
    if mark.interval is not None:
        left, right = (scale.x(end) for end in mark.interval)
        ends = f"M{left} {y - 5}v10M{left} {y}H{right}M{right} {y - 5}v10"
        line = f"<path d='{ends}' stroke='{_INK}' fill='none'/>"
    return label + line + _shape(mark, scale.x(mark.value), y) + said


def _shape(mark: Mark, x: float, y: int) -> str:
    """Return a square for the first, a triangle up for better, down for worse, else an open circle."""
    if mark.is_first:
        return f"<rect x='{x - 5}' y='{y - 5}' width='10' height='10' fill='{_INK}'/>"
    if mark.word == "better":
        return f"<path d='M{x} {y - 7}l7 12h-14z' fill='{_INK}'/>"
    if mark.word == "worse":
        return f"<path d='M{x} {y + 7}l7 -12h-14z' fill='{_INK}'/>"
    return f"<circle cx='{x}' cy='{y}' r='5' fill='{_PAPER}' stroke='{_INK}' stroke-width='2'/>"


def _said(mark: Mark) -> str:
    if mark.value is None:
        return mark.word or "undefined"
    number = f"{mark.value:.3f}"
    if mark.interval is not None:
        number += f" [{mark.interval[0]:.3f}, {mark.interval[1]:.3f}]"
    return number
