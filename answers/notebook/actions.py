"""Changes of notes and of the works behind them. They belong to whoever keeps the note.

`by` is nobody for the operator at the command line, whose notes are nobody's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

import structlog
from django.db import transaction
from django.utils import timezone

from answers.notebook.deleted import as_kept
from answers.notebook.models import MOST_SOURCES, DeletedNote, Observation, ObservationSource
from answers.notebook.naming import Named
from corpus.actions import enrichment, sources
from corpus.models import Document, Source

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from answers.models import Answer

T = TypeVar("T", Document, Source)
logger = structlog.get_logger(__name__)
Relationship = ObservationSource.Relationship


class NoteGone(Exception):
    """The note was deleted meanwhile."""


class SourceInUse(ValueError):
    """A work cannot be deleted while something refers to it; the message says what and how many."""


class TooManySources(ValueError):
    """A note would get more sources than it may have."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a person writes in a note."""

    text: str
    kind: str = Observation.Kind.FINDING
    title: str = ""
    is_shared: bool = False


@dataclass(frozen=True, slots=True)
class Met:
    """A work that an answer brought, in the version that was met."""

    source: UUID
    document: UUID


@transaction.atomic
def add(
    *,
    words: Words,
    by: User | None,
    answer: Answer | None = None,
    met: Sequence[Met] = (),
    named: Sequence[Named] = (),
    imported_key: str = "",
) -> Observation:
    """Keep a note, with the works an answer brought as retrieved and those `by` names as cited."""
    note = Observation.objects.create(
        owner=by,
        kind=words.kind,
        title=words.title,
        text=words.text,
        is_shared=words.is_shared,
        answer=answer,
        imported_key=imported_key,
    )
    if met:
        _link(note, [(work.source, _Given(work.document)) for work in met], Relationship.RETRIEVED)
    if named:
        cite(note=note, named=named, by=by)
    note.refresh_from_db()
    logger.info("note.added", note=str(note.pk), sources=note.last_number)
    return note


@transaction.atomic
def change(*, note: Observation, words: Words, by: User | None) -> Observation:
    """Put other words into `note`."""
    row = _own(note, by)
    row.kind, row.title, row.text, row.is_shared = words.kind, words.title, words.text, words.is_shared
    row.changed_at = timezone.now()
    row.save(update_fields=["kind", "title", "text", "is_shared", "changed_at"])
    return row


@transaction.atomic
def delete(*, note: Observation, by: User | None) -> int:
    """Delete `note` with its links; return how many works it was linked to. The works stay.

    Except those that only its owner's words identified: a title alone, which no other note names.
    `undoing.restore` takes it back for an hour.
    """
    row = _own(note, by)
    linked = list(row.links.order_by("number").values_list("source_id", flat=True))
    DeletedNote.objects.create(pk=row.pk, owner=by, note=as_kept(row))
    row.delete()
    _drop_unneeded(linked)
    logger.info("note.deleted", note=str(note.pk), sources=len(linked))
    return len(linked)


@transaction.atomic
def cite(
    *, note: Observation, named: Sequence[Named], by: User | None, relationship: str = Relationship.CITED
) -> list[ObservationSource]:
    """Link the works that `by` names; register those that have no record yet.

    A work that is linked already keeps its number and gets the relationship it is named with now.
    """
    row = _own(note, by)
    rows = []
    # In one order, so that two who name the same works at once do not wait for each other.
    for work in sorted(named, key=lambda work: (work.kind, work.value, work.title)):
        # The title of a work that has an identifier is the note's: an index says what it is called.
        source, _ = sources.register(
            kind=work.kind, value=work.value, title="" if work.kind else work.title, by=by
        )
        rows.append((work, source))
    order = {work: place for place, work in enumerate(named)}
    rows.sort(key=lambda pair: order[pair[0]])
    # So that a note on a work that is held out of sight learns of a retraction when any other would.
    enrichment.ask_again(sources=[source for _, source in rows], by=by)
    given = [(source.pk, _Given(None, work.identifier, work.title)) for work, source in rows]
    return _link(row, given, relationship)


@transaction.atomic
def relate(*, note: Observation, number: int, relationship: str, by: User | None) -> bool:
    """Say how `note` relates to its source with this number; return whether there is one."""
    row = _own(note, by)
    changed = row.links.filter(number=number).update(relationship=relationship)
    _touch(row)
    return bool(changed)


@transaction.atomic
def check_again(*, note: Observation, number: int, by: User | None) -> None:
    """Let the next run ask an index about the source with this number, whenever it was asked last."""
    row = _own(note, by)
    enrichment.ask_again(
        sources=Source.objects.filter(observation_links__in=row.links.filter(number=number)), by=by
    )


@transaction.atomic
def unlink(*, note: Observation, number: int, by: User | None) -> bool:
    """Take the source with this number out of `note`, where the others keep theirs; say if there was one."""
    row = _own(note, by)
    link = row.links.filter(number=number).first()
    if link is None:
        return False
    link.delete()
    row.notices.filter(source=link.source_id).delete()
    _drop_unneeded([link.source_id])
    _touch(row)
    return True


@transaction.atomic
def delete_source(*, source: Source, by: User | None) -> None:
    """Remove the record of a work that nothing refers to. Raises `SourceInUse`, which says what does."""
    row = Source.objects.select_for_update().filter(pk=source.pk).first()
    if row is None:
        return
    notes = Observation.objects.filter(links__source=row).count()
    counts = {"note": notes, "document": row.documents.count(), "editorial event": row.events.count()}
    used = [f"{count:,} {name}{'' if count == 1 else 's'}" for name, count in counts.items() if count]
    if used:
        raise SourceInUse(f"The work cannot be deleted: it is used by {', '.join(used)}.")
    row.delete()
    logger.info("source.deleted", source=str(source.pk), by=None if by is None else by.pk)


def follow_identified(sender: type[Source], old: UUID, new: UUID, **_: Any) -> None:
    """Have notes refer to the work that another one turned out to be."""
    links = ObservationSource.objects.filter(source=old)
    both = ObservationSource.objects.filter(source=new).values("observation")
    links.filter(observation__in=both).delete()
    links.update(source=new)


@dataclass(frozen=True, slots=True)
class _Given:
    document: UUID | None
    named: str = ""
    title: str = ""


def _own(note: Observation, by: User | None) -> Observation:
    """Return the note, locked, for whoever keeps it."""
    row = Observation.objects.select_for_update().filter(pk=note.pk).first()
    if row is None:
        raise NoteGone
    if row.owner_id != (None if by is None else by.pk):
        raise PermissionError("A note is changed by whoever keeps it.")
    return row


def _link(
    note: Observation, works: Sequence[tuple[UUID, _Given]], relationship: str
) -> list[ObservationSource]:
    """Link works to a note that is locked or new. One that is gone meanwhile is left out."""
    held = alive(Document, [given.document for _, given in works if given.document])
    documents = {row.pk for row in held}
    there = {row.pk: row for row in alive(Source, [source for source, _ in works])}
    links = {link.source_id: link for link in note.links.all()}
    asked: dict[UUID, ObservationSource] = {}
    for source, given in works:
        if source not in there:
            continue
        if source not in links:
            note.last_number += 1
            links[source] = ObservationSource(
                observation=note,
                number=note.last_number,
                source_id=source,
                relationship=relationship,
                standing_then=standing(there[source]),
            )
        elif given.named or given.title:
            links[source].relationship = relationship
        _give(links[source], given, documents)
        asked[source] = links[source]
    if len(links) > MOST_SOURCES:
        raise TooManySources(f"A note may have {MOST_SOURCES} sources; these would make {len(links)}.")
    for link in asked.values():
        link.save()
    _touch(note)
    return list(asked.values())


def _give(link: ObservationSource, given: _Given, documents: set[UUID]) -> None:
    if given.document in documents:
        link.document_id, link.withdrawn_under, link.withdrawn_from = given.document, "", ""
    link.named, link.named_title = given.named or link.named, given.title or link.named_title


def standing(source: Source) -> list[str]:
    """Return what of the work's standing its owner is shown at once, and so is not told of later."""
    flags = (("retracted", source.is_retracted), ("concern", source.has_concern))
    return [name for name, holds in flags if holds]


def alive(model: type[T], ids: Iterable[UUID]) -> list[T]:
    """Return those of the rows that there are, locked so that they stay until the links are committed."""
    rows = model._default_manager.select_for_update(no_key=True, of=("self",)).filter(pk__in=list(ids))
    return list(rows.order_by("pk"))


def _touch(note: Observation) -> None:
    note.changed_at = timezone.now()
    note.save(update_fields=["changed_at", "last_number"])


def _drop_unneeded(ids: Iterable[UUID]) -> None:
    for source in Source.objects.filter(pk__in=list(ids), identifier_value="").order_by("pk"):
        sources.remove_unneeded(source.pk)
