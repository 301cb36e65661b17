"""The works of a library in the authority registry: registered once, never overwritten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

import pghistory
from django.db import transaction
from django.db.models import Q, QuerySet

from corpus.actions import sources
from corpus.bibliography.identifiers import Identifier
from corpus.bibliography.records import Record
from corpus.models import Document, Source
from corpus.signals import identified

T = TypeVar("T")

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Registered:
    """How many works of a library were new to the registry, how many it got words for, how many it knew."""

    new: int = 0
    completed: int = 0
    known: int = 0


def register(records: Iterable[Record], *, dry_run: bool = False) -> Registered:
    """Register the works that `records` identify; of works held twice in them the first counts.

    A work the registry knows only by its identifier gets the words of the library; any other stays as it
    is. With `dry_run` nothing is written.
    """
    total = Registered()
    for some in _batches(list(distinct(records).items())):
        done = _register(dict(some), dry_run=dry_run)
        total = Registered(total.new + done.new, total.completed + done.completed, total.known + done.known)
    return total


def distinct(records: Iterable[Record]) -> dict[Identifier, Record]:
    """Return the works that `records` identify, each with the first record that does."""
    works: dict[Identifier, Record] = {}
    for record in records:
        if record.identifier is not None:
            works.setdefault(record.identifier, record)
    return works


def held(
    identifiers: Iterable[Identifier], documents: QuerySet[Document]
) -> Iterator[tuple[Identifier, Document]]:
    """Yield the works of which one of `documents` is a copy, with the copy that counts today."""
    for some in _batches(list(identifiers)):
        copies = documents.filter(_any_of(some, lookup="source__")).select_related("source")
        # What is superseded comes first, so that who keeps the last one keeps the current one.
        for document in copies.order_by("-status", "ingested_at", "id"):
            source = document.source
            assert source is not None  # noqa: S101 - the filter is about it
            yield Identifier(source.identifier_type, source.identifier_value), document


def _batches(items: list[T]) -> Iterator[list[T]]:
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]


@transaction.atomic
def _register(works: dict[Identifier, Record], *, dry_run: bool) -> Registered:
    known = {
        Identifier(source.identifier_type, source.identifier_value): source
        for source in Source.objects.filter(_any_of(works)).order_by("id")
    }
    bare = [identifier for identifier, source in known.items() if not source.title]
    completed = [known[identifier] for identifier in bare if works[identifier].title]
    new = [identifier for identifier in works if identifier not in known]
    if not dry_run:
        with pghistory.context(process="bibliography", reason="Named by a library"):
            Source.objects.bulk_create(
                [_source(identifier, works[identifier]) for identifier in new], ignore_conflicts=True
            )
            for source in completed:
                record = works[Identifier(source.identifier_type, source.identifier_value)]
                _complete(source, record)
    return Registered(len(new), len(completed), len(known) - len(completed))


def _any_of(identifiers: Iterable[Identifier], *, lookup: str = "") -> Q:
    by_kind: dict[str, list[str]] = {}
    for kind, value in identifiers:
        by_kind.setdefault(kind, []).append(value)
    condition = Q(pk__in=[])
    for kind, values in by_kind.items():
        condition |= Q(
            **{f"{lookup}identifier_type": kind, f"{lookup}identifier_value__in": values},
        )
    return condition


def _words(record: Record) -> dict[str, object]:
    return {
        "title": record.title,
        "authors": list(record.authors),
        "year": record.year,
        "container": record.container,
        "publisher": record.publisher,
        "url": record.url,
        "version_label": record.version,
    }


def _source(identifier: Identifier, record: Record) -> Source:
    kind, value = identifier
    return Source(identifier_type=kind, identifier_value=value, **_words(record))


def _complete(source: Source, record: Record) -> None:
    words = _words(record)
    for name, value in words.items():
        setattr(source, name, getattr(source, name) or value)
    source.save(update_fields=list(words))


def hold_named(document: Document, name: str) -> None:
    """Make the registered work of that name, as `Identifier.beyond_doi` gives it, the document's."""
    kind, _, value = name.partition(":")
    if value:
        hold(document_id=document.pk, identifier=Identifier(kind, value))


@transaction.atomic
def hold(*, document_id: UUID, identifier: Identifier) -> bool:
    """Make the registered work the one that a document is a copy of; return whether that changed anything.

    Only where the document's work has no identifier of its own and nobody has recorded anything about it:
    then its nameless record goes.
    """
    document = Document.objects.select_for_update(of=("self",)).select_related("source").get(pk=document_id)
    present = document.source
    if present is not None and (present.identifier_type or present.events.exists()):
        return False
    work = Source.objects.filter(identifier_type=identifier.kind, identifier_value=identifier.value).first()
    if work is None:
        return False
    with pghistory.context(
        process="bibliography", reason=f"Identified as {identifier.kind} {identifier.value}"
    ):
        Document.objects.filter(pk=document_id).update(source=work)
        if present is not None and not present.documents.exists():
            identified.send(sender=Source, old=present.pk, new=work.pk)
            sources.let_go(present.pk)
    return True
