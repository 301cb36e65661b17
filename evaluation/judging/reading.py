"""A stored answer as a judge reads it, and as people do who look at what the judge made of it."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from answers.models import Answer, AnswerSource
from answers.rendering import render
from corpus import carrying
from corpus.citation_units import pages_label
from corpus.egress import Classes
from corpus.models import Chunk
from corpus.scope import RetrievalScope
from evaluation.actions.judging import text_sha256
from evaluation.judging.models import AnswerOutcome, Judgement
from evaluation.judging.prompts import Source
from evaluation.judging.rubric import DIMENSIONS, GROUNDING, LABELS


def sources_of(answer: Answer, scope: RetrievalScope) -> list[Source] | None:
    """Return all numbered sources of `answer`; None when one is gone, changed or out of scope.

    A judge that reads less than the writer did would find fault where there is none.
    """
    rows = list(answer.sources.select_related("chunk__document").order_by("number", "pk"))
    keys = [row.chunk_id for row in rows if row.chunk_id is not None]
    allowed = set(Chunk.objects.within(scope).filter(pk__in=keys).order_by().values_list("pk", flat=True))
    found = []
    for row in rows:
        chunk = row.chunk
        if chunk is None or chunk.pk not in allowed or chunk.content_sha256 != row.content_sha256:
            return None
        places = [" > ".join(row.section_path), row.locator, pages_label(row.page_start, row.page_end)]
        place = ", ".join(dict.fromkeys(filter(None, places)))
        found.append(
            Source(
                number=row.number,
                title=row.title,
                place=place,
                body=chunk.body,
                license_class=chunk.document.license_class,
            )
        )
    return found


def classes_of_sources(answer: Answer) -> Classes:
    """Return the licence classes of what `answer` was made of, as they stand now."""
    return carrying.of_documents(set(answer.sources.order_by().values_list("document_id", flat=True)))


@dataclass(frozen=True, slots=True)
class ShownSource:
    """A numbered source, as people read it."""

    number: int
    title: str
    place: str
    body: str
    is_table: bool
    locator: str
    passage_id: str


@dataclass(frozen=True, slots=True)
class Grade:
    """What the judge gave for one dimension: a grade, or the code of what was wrong."""

    label: str
    grade: int | None
    is_clamped: bool
    failure: str


@dataclass(frozen=True, slots=True)
class ShownOutcome:
    """What came of one question. Without `answer` its text or one of its sources is not what was judged."""

    outcome: AnswerOutcome
    grades: tuple[Grade, ...]
    answer: SafeString | None = None
    sources: tuple[ShownSource, ...] = ()


def shown_source(row: AnswerSource) -> ShownSource:
    """Return a source whose passage is there, as people read it."""
    chunk = row.chunk
    assert chunk is not None  # noqa: S101 - whoever calls has checked it
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


def shown(outcome: AnswerOutcome) -> ShownOutcome:
    """Return what came of a question, with answer and sources while all of it is as it was.

    For whoever may know of its run: they may see every document that the run touched.
    """
    grades = tuple(_grades(list(outcome.judgements.order_by("kind", "pk"))))
    answer = outcome.answer
    if answer is None or outcome.error_code or text_sha256(answer.text) != outcome.answer_sha256:
        return ShownOutcome(outcome, grades)
    if sources_of(answer, RetrievalScope()) is None:
        return ShownOutcome(outcome, grades)
    rows = answer.sources.select_related("chunk").order_by("number", "pk")
    sources = tuple(map(shown_source, rows))
    return ShownOutcome(outcome, grades, render(answer.text, sources), sources)


def _grades(replies: list[Judgement]) -> list[Grade]:
    found = []
    for name in DIMENSIONS:
        kind = Judgement.Kind.GROUNDING if name in GROUNDING else Judgement.Kind.CORRECTNESS
        reply = next((one for one in replies if one.kind == kind), None)
        found.append(
            Grade(
                label=LABELS[name],
                grade=None if reply is None else getattr(reply, name),
                is_clamped=reply is not None and name in reply.clamped,
                failure="" if reply is None else reply.error_code.replace("_", " "),
            )
        )
    return found
