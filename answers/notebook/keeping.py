"""Keeping many notes at once, in a few statements however many there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import structlog
from django.db import transaction
from django.utils import timezone

from answers.notebook.actions import Words, alive, standing
from answers.notebook.models import Observation, ObservationSource
from answers.notebook.naming import Named
from corpus.actions import enrichment, sources
from corpus.actions.sources import Name
from corpus.models import Source

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class NewNote:
    """A note to keep, with the works it cites."""

    words: Words
    named: tuple[Named, ...]
    imported_key: str


@transaction.atomic
def add_all(*, notes: Sequence[NewNote], by: User | None) -> None:
    """Keep the notes with the works they name as cited, as `actions.add` would one after another."""
    records = sources.register_all(names=(_name(work) for note in notes for work in note.named), by=by)
    enrichment.ask_again(sources=records.values(), by=by)
    there = {row.pk: row for row in alive(Source, [row.pk for row in records.values()])}
    now = timezone.now()
    rows, links = [], []
    for place, note in enumerate(notes):
        row = Observation(
            owner=by,
            kind=note.words.kind,
            title=note.words.title,
            text=note.words.text,
            is_shared=note.words.is_shared,
            imported_key=note.imported_key,
            # Lists are sorted by it: the last one of an import is the last changed.
            changed_at=now + timedelta(microseconds=place),
        )
        own = list(_links(row, note, records, there))
        row.last_number = len(own)
        rows.append(row)
        links += own
    Observation.objects.bulk_create(rows)
    ObservationSource.objects.bulk_create(links)
    logger.info("notes.added", notes=len(rows), sources=len(links))


def _name(work: Named) -> Name:
    # The title of a work that has an identifier is the note's: an index says what it is called.
    return Name(work.kind, work.value, "" if work.kind else work.title)


def _links(
    note: Observation, new: NewNote, records: Mapping[Name, Source], there: Mapping[UUID, Source]
) -> Iterator[ObservationSource]:
    """Yield the links to the works it names, each work once. One that is gone meanwhile is left out."""
    named = {records[_name(work)].pk: work for work in reversed(new.named)}
    known = [(there[key], work) for key, work in reversed(named.items()) if key in there]
    for number, (source, work) in enumerate(known, start=1):
        yield ObservationSource(
            observation=note,
            number=number,
            source=source,
            relationship=ObservationSource.Relationship.CITED,
            named=work.identifier,
            named_title=work.title,
            standing_then=standing(source),
        )
