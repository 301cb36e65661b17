"""What a report of judged answers holds besides: grades question by question, and calibration."""

from __future__ import annotations

from typing import Any

from evaluation.calibration import measuring
from evaluation.judging import results as judged_results
from evaluation.judging.rubric import BEST, DIMENSIONS
from evaluation.judging.summary import LEVEL, NAME, score
from evaluation.runs.models import EvaluationRun

Report = dict[str, Any]
PRIMARY = {"level": LEVEL, "measure": "correctness", "best": str(BEST)}


def results(run: EvaluationRun) -> dict[int, dict[str, Any]]:
    """Return what came of each question, by its row; a failure counts as nothing."""
    keys = dict(run.questions.order_by("number", "pk").values_list("key", "pk"))
    return {
        keys[row.key]: {
            NAME: {
                "measures": {LEVEL: {name: score(row, name) for name in DIMENSIONS}},
                "grades": row.grades,
                "clamped": list(row.clamped),
                "failures": row.failures,
                "error": row.error,
                "abstained": row.abstained,
                "prompt_tokens": row.prompt_tokens,
                "degraded": [],
            }
        }
        for row in judged_results.judged(run)
    }


def calibrations(run: EvaluationRun) -> list[dict[str, Any]]:
    """Return what people made of answers of this run, the oldest sample first."""
    return [measuring.calibration(queue) for queue in run.calibrations.order_by("created_at", "pk")]


def warnings(run: EvaluationRun) -> list[str]:
    """Return what has to be known before the grades are believed."""
    return [*judged_results.warnings(run), *measuring.run_warnings(run)]
