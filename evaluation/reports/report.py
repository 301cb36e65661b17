"""The report of a run: its conditions, what to be warned of, its numbers, and every question."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from evaluation.reports import answers
from evaluation.runs.models import EvaluationRun, RetrievalOutcome, RunQuestion
from evaluation.runs.relevant import DOCUMENT, PASSAGE

FORMAT = 1
Report = dict[str, Any]
# By kind: what each question came to under each configuration, and the measure by which questions move.
Results = Callable[[EvaluationRun], dict[int, dict[str, Any]]]


class NoReport(ValueError):
    """The run has no numbers; the message says why."""


def has_report(run: EvaluationRun) -> bool:
    """Whether the run has numbers to report."""
    return run.state == EvaluationRun.State.FINISHED and run.kind in SECTIONS


def report_of(run: EvaluationRun) -> Report:
    """Return the report of a finished run as JSON values. Raises `NoReport`."""
    if not has_report(run):
        raise NoReport(f"Run {run.pk} has no numbers: it is {run.get_state_display().lower()}.")
    results_of, primary = SECTIONS[run.kind]
    results = results_of(run)
    questions = run.questions.order_by("number", "pk")
    return {
        "format": FORMAT,
        "run": str(run.pk),
        "kind": run.kind,
        "started_at": run.started_at.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
        "question_set": {"name": run.question_set_name, "sha256": run.questions_sha256},
        "ground_truth": {"drafted": run.drafted, "reviewed": run.reviewed},
        "fingerprint": run.fingerprint,
        "snapshot": run.snapshot,
        "scope": run.scope,
        "embedding_version": run.embedding_version,
        "code_version": run.code_version,
        "judge": run.judge,
        "is_self_judged": run.is_self_judged,
        "conditions": run.conditions,
        "parameters": run.parameters,
        "retries": run.retries,
        "primary": _applicable(primary, run.summary),
        "warnings": warnings(run),
        "calibration": answers.calibrations(run),
        "numbers": run.summary,
        "questions": [_question(question, results.get(question.pk, {})) for question in questions],
    }


def warnings(run: EvaluationRun) -> list[str]:
    """Return what whoever reads the numbers has to know first."""
    if run.kind == EvaluationRun.Kind.ANSWERS:
        return answers.warnings(run)
    said = []
    if run.drafted:
        total = run.drafted + run.reviewed
        said.append(f"{run.drafted} of {total} questions are drafts that no expert has signed.")
    if run.is_self_judged:
        said.append("The model that answered graded its own answers.")
    if run.failed:
        said.append(f"{run.failed} of {run.planned} results failed and count as nothing found.")
    return said + _retrieval_warnings(run.summary)


def _retrieval_warnings(numbers: Report) -> list[str]:
    lost = numbers.get("unfindable", [])
    said = [f"Nothing that is held and in scope has the evidence of: {', '.join(lost)}."] if lost else []
    degraded = [(one["name"], len(one.get("degraded", []))) for one in numbers.get("configurations", [])]
    return said + [
        f"{name}: a layer failed or was late in {count} questions." for name, count in degraded if count
    ]


def _applicable(primary: dict[str, Any], numbers: Report) -> dict[str, Any]:
    """Return the primary measure on a level that has questions: without phrases there are documents alone."""
    carried_out = [one for one in numbers.get("configurations", []) if not one.get("refusal")]
    levels = carried_out[0]["levels"] if carried_out else {}
    if levels.get(primary["level"], {}).get("questions") != 0:
        return primary
    return {
        **primary,
        "level": next((name for name, one in levels.items() if one["questions"]), primary["level"]),
    }


def _question(question: RunQuestion, results: dict[str, Any]) -> Report:
    return {
        "key": question.key,
        "question": question.question,
        "tags": question.tags,
        "kind": question.kind,
        "split": question.split,
        "unanswerable": question.unanswerable,
        "drafted": question.drafted,
        "relevant": {PASSAGE: question.relevant_passages, DOCUMENT: question.relevant_documents},
        "results": results,
    }


def _retrieval_results(run: EvaluationRun) -> dict[int, dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for outcome in _outcomes(run):
        found.setdefault(outcome.question_id, {})[outcome.configuration.name] = {
            "measures": outcome.measures,
            "first_passage": first_rank(outcome.found, "has_phrase"),
            "first_document": first_rank(outcome.found, "reference"),
            "error": outcome.error_code,
            "degraded": outcome.degraded,
        }
    return found


def _outcomes(run: EvaluationRun) -> Iterable[RetrievalOutcome]:
    rows = RetrievalOutcome.objects.filter(configuration__run=run).select_related("configuration")
    return rows.order_by("configuration__number", "question__number", "pk")


def first_rank(found: Iterable[dict[str, Any]], what: str) -> int | None:
    """Return the rank of the first entry with `what`, None without any."""
    return next((rank for rank, row in enumerate(found, start=1) if row[what]), None)


SECTIONS: dict[str, tuple[Results, dict[str, str]]] = {
    EvaluationRun.Kind.ANSWERS: (answers.results, answers.PRIMARY),
    EvaluationRun.Kind.RETRIEVAL: (_retrieval_results, {"level": PASSAGE, "measure": "ndcg@10"}),
}
