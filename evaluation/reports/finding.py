"""Reports by what people call them: a file, a baseline, a run's id or how it begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evaluation.reports import writing
from evaluation.reports.report import NoReport, report_of
from evaluation.runs.models import Baseline, EvaluationRun

Report = dict[str, Any]
_SHORTEST_ID = 6


def find(name: str) -> Report:
    """Return a report by its file or folder, else of the run called so. Raises `NoReport`, `Unreadable`."""
    path = Path(name)
    if path.is_dir() and (path / "report.json").is_file():
        return writing.read(path / "report.json")
    if path.is_file():
        return writing.read(path)
    return report_of(find_run(name))


def find_run(name: str) -> EvaluationRun:
    """Return a run by a baseline's name, or by its id or at least six characters of it. Raises `NoReport`."""
    baseline = Baseline.objects.filter(name=name).select_related("run").first()
    if baseline is not None:
        return baseline.run
    plain = name.replace("-", "").lower()
    if len(plain) >= _SHORTEST_ID and plain.isalnum():
        keys = EvaluationRun.objects.order_by("pk").values_list("pk", flat=True)
        found = [key for key in keys if key.hex.startswith(plain)]
        if len(found) == 1:
            return EvaluationRun.objects.get(pk=found[0])
        if found:
            raise NoReport(f"{len(found)} runs begin with {name}: write more of the id.")
    raise NoReport(f"There is no run, baseline or report called {name}.")


def latest(*, like: Report) -> EvaluationRun:
    """Return the newest finished run of the same kind over the same set of questions. Raises `NoReport`."""
    runs = EvaluationRun.objects.filter(
        kind=like["kind"], question_set_name=like["question_set"]["name"], state=EvaluationRun.State.FINISHED
    )
    found = runs.exclude(pk=like["run"]).order_by("-finished_at", "pk").first()
    if found is None:
        raise NoReport(f"No run of the set {like['question_set']['name']} has finished.")
    return found
