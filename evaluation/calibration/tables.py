"""Agreement as the tables of pages and reports. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evaluation.calibration.standing import EXPERTS, OTHERS
from evaluation.judging.rubric import GRADES, LABELS
from evaluation.metrics.agreement import UNDEFINED

TITLES = {
    (EXPERTS, "judge_and_people"): "Judge and experts",
    (EXPERTS, "between_people"): "Experts among each other",
    (OTHERS, "judge_and_people"): "Judge and others, who are no experts",
    (OTHERS, "between_people"): "Others among each other",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One dimension. Numbers are written out; what is undefined is a word."""

    dimension: str
    labels: int
    exact: str
    kappa: str
    interval: str
    quadratic: str
    word: str
    matrix: tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """How well two sides agree: people with each other, or the judge with them."""

    title: str
    first: str
    second: str
    rows: tuple[Row, ...]


def of(found: dict[str, Any]) -> list[Table]:
    """Return the tables of a calibration; none about people who labelled nothing."""
    tables = []
    for (kind, what), title in TITLES.items():
        if not found[kind]["labels"]:
            continue
        is_judge = what == "judge_and_people"
        rows = tuple(_row(name, numbers) for name, numbers in found[kind][what].items())
        sides = ("people", "the judge") if is_judge else ("one", "the other")
        tables.append(Table(title, *sides, rows))
    return tables


def _row(name: str, numbers: dict[str, Any]) -> Row:
    interval = numbers["interval"]
    return Row(
        dimension=LABELS[name],
        labels=numbers["labels"],
        exact=numbers["exact"] if isinstance(numbers["exact"], str) else f"{numbers['exact']:.0%}",
        kappa=_number(numbers["kappa"]),
        interval=UNDEFINED if isinstance(interval, str) else f"{interval[0]:.2f} to {interval[1]:.2f}",
        quadratic=_number(numbers["kappa_quadratic"]),
        word=numbers["word"],
        matrix=tuple((grade, tuple(row)) for grade, row in zip(GRADES, numbers["matrix"], strict=True)),
    )


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.2f}"
