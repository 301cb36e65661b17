"""How well people agree with each other and the judge with them. Experts and others are kept apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.calibration import standing
from evaluation.calibration.models import CalibrationItem, CalibrationQueue
from evaluation.calibration.queries import label_of, with_labels
from evaluation.calibration.standing import EXPERTS, OTHERS, Label
from evaluation.judging.models import Judgement
from evaluation.judging.rubric import DIMENSIONS, GRADES, LABELS
from evaluation.metrics.agreement import STABLE_FROM, agreement
from evaluation.runs.models import EvaluationRun

# Below "moderate" a judge's grades say little about what people would say.
_ENOUGH = 0.40


@dataclass(frozen=True, slots=True)
class Labelled:
    """One item: what people made of it and what the judge did."""

    labels: tuple[Label, ...]
    judge: dict[str, int]


def measure(rows: Sequence[Labelled], *, experts: bool) -> dict[str, Any]:
    """Return how people of one kind agree with each other and with the judge, by dimension. Pure."""
    return {
        "labels": sum(
            label.is_expert == experts and bool(label.grades) for row in rows for label in row.labels
        ),
        "skipped": sum(
            label.is_expert == experts and not label.grades for row in rows for label in row.labels
        ),
        "between_people": {name: _between(rows, name, experts=experts) for name in DIMENSIONS},
        "judge_and_people": {name: _against_judge(rows, name, experts=experts) for name in DIMENSIONS},
    }


def _between(rows: Sequence[Labelled], name: str, *, experts: bool) -> dict[str, object]:
    pairs = []
    for row in rows:
        given = standing.graded([label for label in row.labels if label.is_expert == experts])
        if len(given) >= standing.NEEDED:
            pairs.append((given[0].grades[name], given[1].grades[name]))
    return _agreement(pairs)


def _against_judge(rows: Sequence[Labelled], name: str, *, experts: bool) -> dict[str, object]:
    pairs, undecided = [], 0
    for row in rows:
        settled = standing.settled(row.labels, experts=experts)
        if name in settled and name in row.judge:
            pairs.append((settled[name], row.judge[name]))
        elif standing.graded([label for label in row.labels if label.is_expert == experts]):
            undecided += name not in settled
    return _agreement(pairs) | {"undecided": undecided}


def _agreement(pairs: Sequence[tuple[int, int]]) -> dict[str, object]:
    return agreement([one for one, _ in pairs], [other for _, other in pairs], grades=GRADES).as_dict()


def calibration(queue: CalibrationQueue) -> dict[str, Any]:
    """Return what the labels of a sample come to, as JSON values; what is undefined is a word."""
    rows = _labelled(with_labels(queue.items.all()))
    numbers = {EXPERTS: measure(rows, experts=True), OTHERS: measure(rows, experts=False)}
    return {
        "format": 1,
        "run": str(queue.run_id),
        "sample": str(queue.pk),
        "seed": queue.seed,
        "items": len(rows),
        "judge": queue.run.judge,
        "fingerprint": queue.run.fingerprint,
        **numbers,
        "warnings": warnings(numbers),
    }


def warnings(numbers: dict[str, Any]) -> list[str]:
    """Return what the judge's grades may not be used for, by what experts say. Pure."""
    experts = numbers[EXPERTS]
    if not experts["labels"]:
        other = " Labels by others do not stand in for theirs." if numbers[OTHERS]["labels"] else ""
        return [
            f"No expert has labelled answers of this run: how far to trust the judge is not known.{other}"
        ]
    said = [_doubt(LABELS[name].lower(), found) for name, found in experts["judge_and_people"].items()]
    return [warning for warning in said if warning]


def _doubt(name: str, found: dict[str, Any]) -> str:
    kappa, labels = found["kappa"], found["labels"]
    of = f"Agreement of judge and experts on {name}"
    if not isinstance(kappa, float):
        return f"{of} is undefined ({labels} labels)."
    if kappa <= _ENOUGH:
        return f"{of} is {found['word']} (kappa {kappa:.2f}): do not rest a decision on it."
    if not found["stable"]:
        return f"{of} is unstable: {labels} labels, fewer than {STABLE_FROM}."
    return ""


def run_warnings(run: EvaluationRun) -> list[str]:
    """Return what has to be said beside the judge's grades of a run: by its largest sample."""
    queues = sorted(run.calibrations.order_by("created_at", "pk"), key=lambda queue: -queue.items.count())
    if not queues:
        return warnings({EXPERTS: {"labels": 0}, OTHERS: {"labels": 0}})
    return list(calibration(queues[0])["warnings"])


def _labelled(items: Iterable[CalibrationItem]) -> list[Labelled]:
    rows = list(items)
    judged: dict[int, dict[str, int]] = {}
    for reply in Judgement.objects.filter(
        outcome__in=[row.outcome_id for row in rows], error_code=""
    ).order_by("pk"):
        found = judged.setdefault(reply.outcome_id, {})
        for name in DIMENSIONS:
            grade = getattr(reply, name)
            if grade is not None:
                found[name] = grade
    return [Labelled(tuple(map(label_of, row.labels.all())), judged.get(row.outcome_id, {})) for row in rows]
