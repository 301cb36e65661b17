"""What a note that is saved from an answer can be linked to: the works whose passages were retrieved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from answers.models import Answer
from answers.notebook.actions import Met
from answers.reading import ReadableAnswer, ReadableSource
from corpus.models import Document


@dataclass(frozen=True, slots=True)
class Work:
    """A work behind an answer, with the numbers its passages have there."""

    met: Met
    title: str
    numbers: tuple[int, ...]
    is_cited: bool


def works(shown: ReadableAnswer) -> list[Work]:
    """Return the works retrieved for the answer that its reader may see, each once, in their order."""
    available = [source for source in shown.sources if source.available]
    records = dict(
        Document.objects.filter(pk__in=[source.document_id for source in available], source__isnull=False)
        .order_by("pk")
        .values_list("pk", "source_id")
    )
    groups: dict[UUID, list[ReadableSource]] = {}
    for source in available:
        record = records.get(UUID(source.document_id))
        if record is not None:
            groups.setdefault(record, []).append(source)
    return [
        Work(
            met=Met(source=record, document=UUID(group[0].document_id)),
            title=group[0].title,
            numbers=tuple(source.number for source in group),
            is_cited=any(source.cited for source in group),
        )
        for record, group in groups.items()
    ]


def met_for_the_operator(answer: Answer) -> list[Met]:
    """Return the works retrieved for an answer of the operator's, whom no ceiling keeps from any."""
    rows = answer.sources.filter(document__source__isnull=False).order_by("number")
    met: dict[UUID, Met] = {}
    for source, document in rows.values_list("document__source_id", "document_id"):
        met.setdefault(source, Met(source=source, document=document))
    return list(met.values())


def ticked(found: Iterable[Work]) -> list[str]:
    """Return what a form sends when every work is ticked."""
    return [str(work.numbers[0]) for work in found]


def chosen(found: Iterable[Work], numbers: Iterable[str]) -> list[Met]:
    """Return the works one of whose numbers is among `numbers`."""
    wanted = set(numbers)
    return [work.met for work in found if wanted & {str(number) for number in work.numbers}]
