"""Agreement as the tables of a page and of a Markdown report. No queries here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evaluation.calibration.measuring import EXPERTS, LABELS, OTHERS
from evaluation.judging.rubric import GRADES
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


def markdown(found: dict[str, Any]) -> str:
    """Return the section of a report that says what its judge's grades are worth."""
    lines = ["## Calibration", ""]
    lines += [f"- {warning}" for warning in found["warnings"]] + ([""] if found["warnings"] else [])
    lines += [f"{found['items']} answers drawn with seed {found['seed']}, judge {found['judge']}.", ""]
    for table in of(found):
        lines += [
            f"### {table.title}",
            "",
            "| dimension | labels | exact | kappa | 95 % | quadratic | |",
            "| --- | ---: | ---: | ---: | --- | ---: | --- |",
        ]
        lines += [
            f"| {row.dimension} | {row.labels} | {row.exact} | {row.kappa} | {row.interval} "
            f"| {row.quadratic} | {row.word} |"
            for row in table.rows
        ]
        lines.append("")
    return "\n".join(lines)


def _row(name: str, numbers: dict[str, Any]) -> Row:
    interval = numbers["interval"]
    return Row(
        dimension=LABELS[name].capitalize(),
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
