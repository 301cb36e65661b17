"""An item as a labeller reads it: question, answer, sources, reference. Nothing of how they came about."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from answers.models import AnswerSource
from answers.rendering import render
from corpus.citation_units import pages_label
from evaluation.calibration.models import CalibrationItem
from evaluation.runs.models import RunQuestion


@dataclass(frozen=True, slots=True)
class ShownSource:
    """A numbered source."""

    number: int
    title: str
    place: str
    body: str
    is_table: bool
    locator: str
    passage_id: str


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
    sources = tuple(map(_source, rows))
    return ShownItem(
        question=question.question,
        reference=question.reference_answer,
        answer=render(answer.text, sources),
        sources=sources,
    )


def _source(row: AnswerSource) -> ShownSource:
    chunk = row.chunk
    assert chunk is not None  # noqa: S101 - the same
    places = [" › ".join(row.section_path), row.locator, pages_label(row.page_start, row.page_end)]
    return ShownSource(
        number=row.number,
        title=row.title,
        place=" · ".join(dict.fromkeys(filter(None, places))),
        body=chunk.body,
        is_table=chunk.is_table,
        locator=row.locator,
        passage_id=str(chunk.public_id),
    )
