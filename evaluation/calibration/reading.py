"""An item as a labeller reads it: question, answer, sources, reference. Nothing of how they came about."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from answers.rendering import render
from evaluation.calibration.models import CalibrationItem
from evaluation.judging.reading import ShownSource, shown_source
from evaluation.runs.models import RunQuestion


@dataclass(frozen=True, slots=True)
class ShownItem:
    """What is on a labeller's page."""

    question: str
    reference: str
    answer: SafeString
    sources: tuple[ShownSource, ...]


def shown(item: CalibrationItem) -> ShownItem:
    """Return what a labeller reads of an item that they may see."""
    question = RunQuestion.objects.select_related("answer_outcome__answer").get(
        answer_outcome=item.outcome_id
    )
    answer = question.answer_outcome.answer
    assert answer is not None  # noqa: S101 - items without an answer are shown to nobody
    rows = answer.sources.select_related("chunk").order_by("number", "pk")
    sources = tuple(map(shown_source, rows))
    return ShownItem(
        question=question.question,
        reference=question.reference_answer,
        answer=render(answer.text, sources),
        sources=sources,
    )
