"""The numbers of a retrieval run: each configuration on both levels, paired with the first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.metrics.ranking import NAMES, means
from evaluation.metrics.significance import FEWEST, TOO_FEW, bootstrap, difference
from evaluation.runs.models import RetrievalOutcome, RunConfiguration, RunQuestion
from evaluation.runs.relevant import LEVELS, PASSAGE

UNDEFINED = "undefined"
_MISSED = dict.fromkeys(NAMES, 0.0)
Numbers = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Table:
    """The measures of one configuration: by level, then by question."""

    levels: dict[str, dict[str, dict[str, float]]]


def of(
    questions: Sequence[RunQuestion],
    configurations: Sequence[RunConfiguration],
    outcomes: Sequence[RetrievalOutcome],
) -> Numbers:
    """Return the numbers of a run as JSON values; what cannot be said is a word.

    A retrieval that failed counts as having found nothing: the denominator is what was asked.
    """
    asked = [question for question in questions if not question.unanswerable]
    by_key = {question.pk: question for question in asked}
    rows: dict[int, list[RetrievalOutcome]] = {}
    for outcome in outcomes:
        rows.setdefault(outcome.configuration_id, []).append(outcome)
    tables = {one.pk: _table(rows.get(one.pk, []), by_key) for one in configurations if not one.refusal}
    first = tables[configurations[0].pk] if configurations and not configurations[0].refusal else None
    return {
        "questions": len(asked),
        "unanswerable": len(questions) - len(asked),
        "unfindable": [one.key for one in asked if one.relevant_passages == 0 or one.relevant_documents == 0],
        "configurations": [
            _numbers(one, tables.get(one.pk), first, rows.get(one.pk, []), asked) for one in configurations
        ],
    }


def _table(outcomes: Iterable[RetrievalOutcome], questions: dict[int, RunQuestion]) -> _Table:
    levels: dict[str, dict[str, dict[str, float]]] = {level: {} for level in LEVELS}
    for outcome in outcomes:
        question = questions[outcome.question_id]
        for level in LEVELS:
            if level == PASSAGE and question.relevant_passages is None:
                continue
            levels[level][question.key] = _MISSED if outcome.error_code else outcome.measures[level]
    return _Table(levels)


def _numbers(
    configuration: RunConfiguration,
    table: _Table | None,
    first: _Table | None,
    outcomes: Sequence[RetrievalOutcome],
    asked: Sequence[RunQuestion],
) -> Numbers:
    numbers: Numbers = {
        "name": configuration.name,
        "profile": configuration.profile,
        "switches": configuration.switches,
        "options": configuration.options,
        "refusal": configuration.refusal,
    }
    if table is None:
        return numbers
    return numbers | {
        "failed": sorted(_key(asked, one) for one in outcomes if one.error_code),
        "degraded": sorted(_key(asked, one) for one in outcomes if one.degraded),
        "stages": _stages(outcomes),
        "levels": {level: _level(table, first, level) for level in LEVELS},
        "tags": _groups(table, asked, lambda one: one.tags),
        "kinds": _groups(table, asked, lambda one: [one.kind] if one.kind else []),
        "splits": _groups(table, asked, lambda one: [one.split] if one.split else []),
    }


def _key(asked: Sequence[RunQuestion], outcome: RetrievalOutcome) -> str:
    return next(question.key for question in asked if question.pk == outcome.question_id)


def _stages(outcomes: Iterable[RetrievalOutcome]) -> Numbers:
    """Count how the stages ended: a layer that never ran makes no difference, and that is to be seen."""
    counts: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        for stage, trace in outcome.stages.items():
            counts.setdefault(stage, Counter())[trace["status"]] += 1
    return {stage: dict(sorted(count.items())) for stage, count in sorted(counts.items())}


def _level(table: _Table, first: _Table | None, level: str) -> Numbers:
    rows = table.levels[level]
    keys = sorted(rows)
    numbers: Numbers = {"questions": len(keys)}
    for name, mean in means([rows[key] for key in keys]).items():
        values = [rows[key][name] for key in keys]
        numbers[name] = {
            "mean": UNDEFINED if mean is None else mean,
            "interval": bootstrap(values).as_list() if len(values) >= FEWEST else TOO_FEW,
        }
        if first is not None and first is not table:
            before = [first.levels[level][key][name] for key in keys]
            numbers[name]["against_first"] = difference(before, values).as_dict()
    return numbers


def _groups(
    table: _Table, asked: Sequence[RunQuestion], names_of: Callable[[RunQuestion], Iterable[str]]
) -> Numbers:
    members: dict[str, set[str]] = {}
    for question in asked:
        for name in names_of(question):
            members.setdefault(name, set()).add(question.key)
    return {name: _group(table, keys) for name, keys in sorted(members.items())}


def _group(table: _Table, keys: set[str]) -> Numbers:
    numbers: Numbers = {"questions": len(keys)}
    for level in LEVELS:
        rows = [values for key, values in sorted(table.levels[level].items()) if key in keys]
        numbers[level] = {name: UNDEFINED if mean is None else mean for name, mean in means(rows).items()}
    return numbers
