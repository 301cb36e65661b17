"""The tables of a report of judged answers: grades, refusals, failures, agreement with people. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.calibration.tables import of as calibration_tables
from evaluation.judging.rubric import DIMENSIONS, LABELS
from evaluation.judging.summary import LEVEL, NAME
from evaluation.reports.tables import Table, interval, number

Report = dict[str, Any]


def tables(report: Report) -> list[Table]:
    """Return the grades, the refusals, the failures and the agreement with people."""
    return [_grades(report), _abstention(report), *_failures(report), *_agreement(report)]


def _grades(report: Report) -> Table:
    (one,) = report["numbers"]["configurations"]
    rows = []
    # The database keeps no order of names.
    for name in DIMENSIONS:
        found = report["numbers"]["dimensions"][name]
        counts = " · ".join(map(str, found["counts"]))
        told = [str(found[what]) for what in ("submitted", "judged", "failed", "clamped")]
        spread = interval(one["levels"][LEVEL][name]["interval"])
        means = [number(found["mean"]), spread, number(found["mean_of_judged"])]
        rows.append((LABELS[name], *told, *means, counts))
    head = (
        "dimension", "submitted", "judged", "failed", "clamped", "mean of submitted, 0 to 2", "95 % interval",
        "mean of judged", "graded 0 · 1 · 2",
    )  # fmt: skip
    return Table("Grades", head, tuple(rows))


def _abstention(report: Report) -> Table:
    found = report["numbers"]["abstention"]
    row = (
        *(str(found[name]) for name in ("unanswerable", "answerable", "refused", "rightly_refused")),
        number(found["precision"]),
        number(found["recall"]),
    )
    head = ("unanswerable", "answerable", "refused", "rightly refused", "precision", "recall")
    return Table("Abstention", head, (row,))


def _failures(report: Report) -> list[Table]:
    rows = tuple(
        (one["question"], one["of"], one["code"].replace("_", " ")) for one in report["numbers"]["failures"]
    )
    return [Table("Failures, which count as nothing", ("question", "of", "what"), rows)] if rows else []


def _agreement(report: Report) -> list[Table]:
    found = []
    for one in report["calibration"]:
        for table in calibration_tables(one):
            rows: Sequence[tuple[str, ...]] = [
                (row.dimension, str(row.labels), row.exact, row.kappa, row.interval, row.quadratic, row.word)
                for row in table.rows
            ]
            head = (
                "dimension",
                "labels",
                "exactly alike",
                "kappa",
                "95 % interval",
                "quadratic",
                "in a word",
            )
            found.append(Table(f"Calibration, {table.title} (seed {one['seed']})", head, tuple(rows)))
    return found


def questions(report: Report) -> Table:
    """Return every question with its grades."""
    rows = []
    for one in report["questions"]:
        result = one["results"].get(NAME, {})
        grades = [_grade(result, name) for name in DIMENSIONS]
        said = "refused" if result.get("abstained") else result.get("error") or "answered"
        rows.append((one["key"], "draft" if one["drafted"] else "signed", said.replace("_", " "), *grades))
    return Table("Questions", ("question", "ground truth", "answer", *LABELS.values()), tuple(rows))


def _grade(result: dict[str, Any], name: str) -> str:
    grade = result.get("grades", {}).get(name)
    if grade is None:
        return "failed"
    return f"{grade}, clamped" if name in result["clamped"] else str(grade)
