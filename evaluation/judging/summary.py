"""The numbers of a run of answers. Pure.

Every mean is taken over what was submitted: a reply that could not be read counts as nothing and not as
if the question had not been asked. What was judged, and its own mean, stands beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from evaluation.judging.rubric import DIMENSIONS, GRADES
from evaluation.metrics.agreement import UNDEFINED
from evaluation.metrics.significance import FEWEST, TOO_FEW, bootstrap

# What the numbers are of, where reports tell levels apart.
LEVEL = "answer"
# Of the one configuration that a run of answers has.
NAME = "answers"


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of one question: grades by dimension, failures by pass; `error` says why no answer."""

    key: str
    tags: tuple[str, ...]
    unanswerable: bool
    abstained: bool | None
    grades: dict[str, int] = field(default_factory=dict)
    clamped: tuple[str, ...] = ()
    failures: dict[str, str] = field(default_factory=dict)
    error: str = ""
    prompt_tokens: int | None = None
    milliseconds: float = 0.0


def of(rows: Sequence[Judged], *, configuration: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers of a run as JSON values; what cannot be said is a word.

    `configuration` says how the answers were written, in the form in which all reports say it.
    """
    return {
        "configurations": [{**configuration, **_levels(rows)}],
        "submitted": len(rows),
        "answered": sum(not row.error for row in rows),
        "dimensions": {name: _dimension(rows, name) for name in DIMENSIONS},
        "abstention": abstention(rows),
        "prompt_tokens_median": _median([row.prompt_tokens for row in rows if row.prompt_tokens is not None]),
        "milliseconds_median": _median([row.milliseconds for row in rows if not row.error]),
        "failures": _failures(rows),
    }


def _levels(rows: Sequence[Judged]) -> dict[str, Any]:
    measures: dict[str, Any] = {"questions": len(rows)}
    for name in DIMENSIONS:
        values = [score(row, name) for row in rows]
        spread = bootstrap(values).as_list() if len(values) >= FEWEST else TOO_FEW
        measures[name] = {"mean": _mean(sum(values), len(values)), "interval": spread}
    tags = {
        tag: {"questions": found["submitted"], LEVEL: {name: found[name] for name in DIMENSIONS}}
        for tag, found in _by_tag(rows).items()
    }
    return {"levels": {LEVEL: measures}, "tags": tags}


def score(row: Judged, dimension: str) -> float:
    """Return what one question counts in a mean: its grade, and nothing for a failure."""
    return float(row.grades.get(dimension, 0))


def abstention(rows: Sequence[Judged]) -> dict[str, Any]:
    """Return how precisely and how completely unanswerable questions were refused.

    A question without an answer was not refused: it counts against recall and not for precision.
    """
    refused = [row for row in rows if row.abstained]
    unanswerable = [row for row in rows if row.unanswerable]
    rightly = sum(row.unanswerable for row in refused)
    return {
        "unanswerable": len(unanswerable),
        "answerable": len(rows) - len(unanswerable),
        "refused": len(refused),
        "rightly_refused": rightly,
        "precision": rightly / len(refused) if refused else UNDEFINED,
        "recall": rightly / len(unanswerable) if unanswerable else UNDEFINED,
    }


def _dimension(rows: Sequence[Judged], name: str) -> dict[str, Any]:
    given = [row.grades[name] for row in rows if name in row.grades]
    return {
        "submitted": len(rows),
        "judged": len(given),
        "failed": len(rows) - len(given),
        "clamped": sum(name in row.clamped for row in rows),
        "mean": _mean(sum(given), len(rows)),
        "mean_of_judged": _mean(sum(given), len(given)),
        "counts": [given.count(grade) for grade in GRADES],
    }


def _by_tag(rows: Sequence[Judged]) -> dict[str, Any]:
    tags = sorted({tag for row in rows for tag in row.tags})
    return {tag: _of_tag([row for row in rows if tag in row.tags]) for tag in tags}


def _of_tag(rows: Sequence[Judged]) -> dict[str, Any]:
    means = {name: _mean(sum(score(row, name) for row in rows), len(rows)) for name in DIMENSIONS}
    return {"submitted": len(rows), **means}


def _failures(rows: Sequence[Judged]) -> list[dict[str, str]]:
    found = []
    for row in rows:
        if row.error:
            found.append({"question": row.key, "of": "answer", "code": row.error})
            continue
        found += [{"question": row.key, "of": of, "code": code} for of, code in sorted(row.failures.items())]
    return found


def _mean(total: float, number: int) -> float | str:
    return total / number if number else UNDEFINED


def _median(values: Sequence[float]) -> float | str:
    return median(values) if values else UNDEFINED
