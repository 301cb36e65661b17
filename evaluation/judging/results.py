"""What a run of answers came to, read for reports, comparisons and pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.db.models import Prefetch

from answers.condensing import RECORD
from answers.models import Answer
from evaluation.judging import summary as numbers
from evaluation.judging.models import NOT_ASKED, AnswerOutcome, Judgement
from evaluation.judging.rubric import DIMENSIONS
from evaluation.judging.summary import Judged
from evaluation.runs.models import EvaluationRun, RunQuestion

# Whoever reads a number has to read these with it.
SELF_JUDGED = "the judge is the model that wrote the answers"
DRAFTED = "{drafted} of {total} questions are drafts that no expert has signed"
ASKED_AGAIN = "replies that failed at first and were asked for again: {count}"
CHANGED = "the corpus changed while the run was going on: {count} answers saw another one"
FAILED = "{failed} of {planned} replies could not be read; each counts as nothing"


def judged(run: EvaluationRun) -> list[Judged]:
    """Return what came of each question of a run, in order; one that was not reached has no answer."""
    replies = Prefetch("answer_outcome__judgements", queryset=Judgement.objects.order_by("kind", "pk"))
    rows = run.questions.select_related("answer_outcome").prefetch_related(replies).order_by("number", "pk")
    return [_judged(row) for row in rows]


def summary(run: EvaluationRun) -> dict[str, Any]:
    """Return the numbers of a run with the warnings that belong to them."""
    row = run.configurations.get(number=1)
    configuration = {
        "name": row.name,
        "profile": row.profile,
        "switches": row.switches,
        "options": row.options,
        "refusal": row.refusal,
    }
    found = numbers.of(judged(run), configuration=configuration)
    return {
        **found,
        "compression": compression(run),
        "changed": changed(run),
        "ground_truth": ground_truth(run),
        "warnings": warnings(run),
    }


def changed(run: EvaluationRun) -> int:
    """Return how many answers saw another corpus than the run began with."""
    outcomes = AnswerOutcome.objects.filter(question__run=run)
    return outcomes.exclude(fingerprint__in=["", run.fingerprint]).count()


def compression(run: EvaluationRun) -> dict[str, int]:
    """Return of how many answers the sources were condensed, and what became of the sources."""
    answers = Answer.objects.filter(pk__in=AnswerOutcome.objects.filter(question__run=run).values("answer"))
    found = [
        held[RECORD]
        for held in answers.order_by("pk").values_list("model_parameters", flat=True)
        if RECORD in held
    ]
    return {
        "answers": len(found),
        "condensed": sum(one["condensed"] for one in found),
        "set_aside": sum(one["set_aside"] for one in found),
        "whole": sum(sum(one["whole"].values()) for one in found),
        "prompt_tokens_taken": sum(one["taken"]["prompt"] for one in found),
        "completion_tokens_taken": sum(one["taken"]["completion"] for one in found),
    }


def ground_truth(run: EvaluationRun) -> dict[str, int]:
    """Return how many questions were drafts and how many an expert had signed."""
    return {"drafted": run.drafted, "reviewed": run.reviewed}


def warnings(run: EvaluationRun) -> list[str]:
    """Return what has to be known of a run before its numbers are believed."""
    run = EvaluationRun.objects.get(pk=run.pk)
    said = [
        DRAFTED.format(drafted=run.drafted, total=run.drafted + run.reviewed) if run.drafted else "",
        SELF_JUDGED if run.is_self_judged else "",
        FAILED.format(failed=run.failed, planned=run.planned) if run.failed else "",
        ASKED_AGAIN.format(count=again) if (again := asked_again(run)) else "",
        CHANGED.format(count=others) if (others := changed(run)) else "",
    ]
    return [warning for warning in said if warning]


def failed_replies(run: EvaluationRun) -> int:
    """Return how many replies the judge failed to give that asking again might bring."""
    rows = Judgement.objects.filter(outcome__question__run=run)
    return rows.exclude(error_code__in=("", *NOT_ASKED)).count()


def asked_again(run: EvaluationRun) -> int:
    """Return how many replies were asked for a second time."""
    return sum(sum(one["codes"].values()) for one in run.retries)


def _judged(row: RunQuestion) -> Judged:
    outcome = getattr(row, "answer_outcome", None)
    nothing = Judged(row.key, tuple(row.tags), row.unanswerable, abstained=None, error="not_reached")
    if outcome is None:
        return nothing
    replies = list(outcome.judgements.all())
    return replace(
        nothing,
        abstained=outcome.abstained,
        grades={
            name: grade
            for reply in replies
            for name in DIMENSIONS
            if (grade := getattr(reply, name)) is not None
        },
        clamped=tuple(name for reply in replies for name in reply.clamped),
        failures={reply.kind: reply.error_code for reply in replies if reply.error_code},
        error=outcome.error_code,
        prompt_tokens=outcome.prompt_tokens,
        milliseconds=outcome.milliseconds,
    )
