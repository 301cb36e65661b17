"""The plots of a report: how good each configuration is, and how it differs from the first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from evaluation.reports.plots import Mark, plot, span

Report = dict[str, Any]
_SHAPES = "Square: compared with. Triangle up: better, down: worse. Circle: no difference shown."


def values(report: Report) -> str:
    """Return the plot of the primary measure with its interval, for each configuration."""
    marks = [_mark(one, report, is_first=number == 0) for number, one in enumerate(_rows(report))]
    return plot(_title(report), _SHAPES, marks, low=0.0, high=float(report["primary"].get("best", 1)))


def deltas(report: Report) -> str:
    """Return the plot of each configuration's difference from the first, question by question."""
    marks = list(_deltas(report))
    low, high = span(marks)
    first = report["numbers"]["configurations"][0]["name"]
    return plot(f"{_title(report)}: difference from {first}", _SHAPES, marks, low=low, high=high)


PLOTS: dict[str, Callable[[Report], str]] = {"values": values, "deltas": deltas}


def has_deltas(report: Report) -> bool:
    """Whether there is more than one configuration to compare."""
    return len(_rows(report)) > 1


def _title(report: Report) -> str:
    primary = report["primary"]
    return f"{primary['measure']} by {primary['level']}"


def _rows(report: Report) -> list[dict[str, Any]]:
    return list(report["numbers"]["configurations"])


def _number(one: dict[str, Any], report: Report) -> dict[str, Any]:
    primary = report["primary"]
    found: dict[str, Any] = one.get("levels", {}).get(primary["level"], {}).get(primary["measure"], {})
    return found


def _mark(one: dict[str, Any], report: Report, *, is_first: bool) -> Mark:
    number = _number(one, report)
    word = number.get("against_first", {}).get("word", "")
    if one["refusal"]:
        return Mark(one["name"], None, word="not carried out")
    return Mark(one["name"], _float(number.get("mean")), _interval(number.get("interval")), word, is_first)


def _deltas(report: Report) -> Iterator[Mark]:
    for one in _rows(report)[1:]:
        paired = _number(one, report).get("against_first", {})
        if one["refusal"]:
            yield Mark(one["name"], None, word="not carried out")
        else:
            delta = _float(paired.get("delta"))
            yield Mark(one["name"], delta, _interval(paired.get("interval")), paired.get("word", ""))


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, float | int) else None


def _interval(value: object) -> tuple[float, float] | None:
    return (float(value[0]), float(value[1])) if isinstance(value, list) else None
