"""The passages that name an entity, to choose those that mean something else by the name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.http import QueryDict

from retrieval.graph import merge_evidence
from retrieval.graph.models import Entity, Mention

# How many documents and spellings a page offers at once; passages come in pages.
_OFFERED = 50


@dataclass(frozen=True, slots=True)
class Chosen:
    """What somebody ticked: passages one by one, all of a document, all that spell it so."""

    passages: frozenset[int] = frozenset()
    documents: frozenset[UUID] = frozenset()
    spellings: frozenset[str] = frozenset()

    @classmethod
    def of(cls, given: QueryDict) -> Chosen:
        """Read a form; what names nothing is left out."""
        documents = set()
        for text in given.getlist("documents"):
            try:
                documents.add(UUID(text))
            except ValueError:
                continue
        numbers = (text for text in given.getlist("passages") if text.isdecimal() and len(text) < 19)
        spellings = (text.replace("\0", "") for text in given.getlist("spellings"))
        return cls(frozenset(map(int, numbers)), frozenset(documents), frozenset(spellings))


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that names an entity: the sentence in which it does first."""

    chunk: int
    title: str
    document: UUID
    locator: str
    before: str
    name: str
    after: str


def mentions(entity: Entity, chosen: Chosen) -> Sequence[Mention]:
    """Return the mentions of `entity` that are chosen."""
    wanted = Q(chunk__in=chosen.passages) | Q(document__in=chosen.documents) | Q(surface__in=chosen.spellings)
    return list(Mention.objects.filter(wanted, entity=entity).order_by("id"))


def first_mentions(entity: Entity) -> QuerySet[Mention]:
    """Return the first mention of each passage that names `entity`, by document and place."""
    of_it = Mention.objects.filter(entity=entity).order_by("chunk", "start", "id").distinct("chunk")
    rows = Mention.objects.filter(pk__in=of_it.values("pk")).select_related("chunk", "document")
    return rows.order_by("document__title", "document", "chunk__ordinal", "id")


def passage(mention: Mention) -> Passage:
    """Return the passage of a mention as a page shows it."""
    words = mention.chunk.body
    before, name, after = merge_evidence.cut(words, mention.start, mention.surface)
    document = mention.document
    return Passage(mention.chunk_id, document.title, document.pk, mention.chunk.locator, before, name, after)


def spellings(entity: Entity) -> list[tuple[str, int]]:
    """Return the spellings that passages have for `entity`, and how many do; the most frequent first."""
    rows = Mention.objects.filter(entity=entity).order_by().values_list("surface")
    return list(
        rows.annotate(passages=Count("chunk", distinct=True)).order_by("-passages", "surface")[:_OFFERED]
    )


def documents(entity: Entity) -> list[tuple[UUID, str, int]]:
    """Return the documents that name `entity`, and in how many passages; the most first."""
    rows = Mention.objects.filter(entity=entity).order_by().values_list("document", "document__title")
    counted = rows.annotate(passages=Count("chunk", distinct=True))
    return list(counted.order_by("-passages", "document__title", "document")[:_OFFERED])
