"""The PRISMA flow of a campaign as SVG, every number with its words. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from corpus.campaigns.prisma import Flow

_WIDTH, _BOX, _SIDE, _LINE, _PAD, _GAP = 860, 400, 360, 20, 14, 34
_LEFT, _RIGHT = 20, 480
_INK, _EDGE, _PAPER, _WASH = "#1c2330", "#525b61", "#ffffff", "#eef4f4"
_FONT = "font-family='system-ui, sans-serif' font-size='14'"
_BOLD = " font-weight='600'"
_MOST_LINES, _LONGEST = 12, 52


@dataclass(frozen=True, slots=True)
class _Step:
    """A box of the flow, and the box of what leaves it there."""

    name: str
    lines: tuple[str, ...]
    leaving: tuple[str, ...] = ()

    @property
    def height(self) -> int:
        """How much room the step takes."""
        return max(_height(self.lines), _height(self.leaving) if self.leaving else 0)


def draw(flow: Flow, *, title: str, labels: Mapping[str, str]) -> str:
    """Return the diagram as an SVG document. `labels` has the words for names of refusals and outcomes."""
    steps = _steps(flow, labels)
    parts, y = [], 64
    for number, step in enumerate(steps):
        parts.append(_drawn(step, y))
        if number + 1 < len(steps):
            parts.append(_arrow(_LEFT + _BOX // 2, y + _height(step.lines), y + step.height + _GAP))
        y += step.height + _GAP
    said = " ".join(f"{step.name}: {'; '.join((*step.lines, *step.leaving))}." for step in steps)
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' role='img' aria-labelledby='flow-title flow-text' "
        f"viewBox='0 0 {_WIDTH} {y}' width='{_WIDTH}' height='{y}' {_FONT}>"
        f"<title id='flow-title'>{escape(title)}</title><desc id='flow-text'>{escape(said)}</desc>"
        f"<rect width='{_WIDTH}' height='{y}' fill='{_PAPER}'/>"
        f"<text x='{_LEFT}' y='36' font-size='17'{_BOLD} fill='{_INK}'>{escape(_cut(title, 80))}</text>"
        f"{''.join(parts)}</svg>"
    )


def _steps(flow: Flow, labels: Mapping[str, str]) -> list[_Step]:
    unscreened = (f"Not screened yet: {flow.unscreened:,}",) if flow.unscreened else ()
    awaiting = (f"Waiting for a person: {flow.awaiting:,}",) if flow.awaiting else ()
    unsought = (f"Not fetched yet: {flow.not_sought:,}",) if flow.not_sought else ()
    return [
        _Step(
            "Identification",
            (f"Records identified: {flow.identified:,}", *_named(flow.found_by)),
            (f"Duplicates removed: {flow.duplicates:,}", f"Unreadable records: {flow.unreadable:,}"),
        ),
        _Step(
            "Screening",
            (f"Works: {flow.candidates:,}", f"Screened: {flow.screened:,}"),
            (f"Excluded: {flow.excluded:,}", *awaiting, *unscreened),
        ),
        _Step(
            "Retrieval",
            (f"Included, texts sought: {flow.included:,}",),
            (f"Not retrieved: {flow.not_retrieved:,}", *_named(flow.refused, labels), *unsought),
        ),
        _Step(
            "Collection",
            (f"Texts fetched: {flow.fetched:,}", *_named(flow.taken_in, labels)),
        ),
    ]


def _named(counts: Mapping[str, int], labels: Mapping[str, str] | None = None) -> tuple[str, ...]:
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    said = [f"{_cut((labels or {}).get(name, name), 40)}: {number:,}" for name, number in rows if number]
    if len(said) <= _MOST_LINES:
        return tuple(said)
    rest = sum(number for _, number in rows[_MOST_LINES:])
    return (*said[:_MOST_LINES], f"for other reasons: {rest:,}")


def _height(lines: Sequence[str]) -> int:
    return 2 * _PAD + _LINE * (len(lines) + 1)


def _drawn(step: _Step, y: int) -> str:
    main = _box(_LEFT, y, _BOX, (step.name, *step.lines), _WASH)
    if not step.leaving:
        return main
    across = f"M{_LEFT + _BOX} {y + 40}H{_RIGHT - 8}"
    arrow = f"<path d='{across}' stroke='{_EDGE}' fill='none'/>{_head(_RIGHT - 2, y + 40, 'right')}"
    return main + arrow + _box(_RIGHT, y, _SIDE, ("Left out here", *step.leaving), _PAPER)


def _box(x: int, y: int, width: int, lines: Sequence[str], fill: str) -> str:
    height = 2 * _PAD + _LINE * len(lines)
    texts = "".join(
        f"<text x='{x + _PAD}' y='{y + _PAD + _LINE * number + 15}' fill='{_INK}'"
        f"{_BOLD if number == 0 else ''}>{escape(_cut(text, _LONGEST))}</text>"
        for number, text in enumerate(lines)
    )
    shape = f"x='{x}' y='{y}' width='{width}' height='{height}' rx='4'"
    return f"<rect {shape} fill='{fill}' stroke='{_EDGE}'/>{texts}"


def _arrow(x: int, top: int, bottom: int) -> str:
    return f"<path d='M{x} {top}V{bottom - 8}' stroke='{_EDGE}' fill='none'/>{_head(x, bottom - 2, 'down')}"


def _head(x: int, y: int, way: str) -> str:
    shape = f"M{x} {y}l-7 -10h14z" if way == "down" else f"M{x} {y}l-10 -7v14z"
    return f"<path d='{shape}' fill='{_EDGE}'/>"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
