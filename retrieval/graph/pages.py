"""What passages in scope say an entity is, and where they mention it."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import QuerySet

from corpus.models import Chunk, Document
from corpus.scope import RetrievalScope
from retrieval.graph import faces, quotes
from retrieval.graph.faces import Face
from retrieval.graph.models import Description, Mention
from retrieval.graph.quotes import Quoted

MOST_DESCRIPTIONS = 20


def descriptions(face: Face, scope: RetrievalScope) -> list[Quoted]:
    """Return the sentences that say what an entity is, of works in good standing first."""
    allowed = Document.objects.within(scope).order_by().values("id")
    rows = (
        Description.objects.filter(document__in=allowed, entity__in=faces.members([face.family]))
        .select_related("chunk__document__source")
        .defer(*quotes.unread("chunk__"))
        .order_by(*quotes.standing_first("document__"), "chunk__ordinal", "id")
    )
    return [quotes.quoted(row.chunk, row.quote, row.start) for row in rows[:MOST_DESCRIPTIONS]]


def passages(face: Face, scope: RetrievalScope) -> QuerySet[Chunk]:
    """Return the passages that mention an entity, of works in good standing first."""
    mentioned = faces.mentions(scope).filter(entity__in=faces.members([face.family])).order_by()
    return (
        Chunk.objects.filter(pk__in=mentioned.values("chunk"))
        .select_related("document__source")
        .defer(*quotes.unread())
        .order_by(*quotes.standing_first("document__"), "document_id", "ordinal", "id")
    )


def mentioned_in(chunks: Iterable[Chunk], face: Face, scope: RetrievalScope) -> list[Quoted]:
    """Return, for each of `chunks`, the sentence that mentions the entity first, its words marked."""
    chunks = list(chunks)
    rows = (
        faces.mentions(scope)
        .filter(entity__in=faces.members([face.family]), chunk__in=[chunk.pk for chunk in chunks])
        .order_by("chunk", "start", "-surface", "id")
    )
    first: dict[int, Mention] = {}
    for row in rows:
        first.setdefault(row.chunk_id, row)
    return [
        quotes.around(chunk, first[chunk.pk].surface, first[chunk.pk].start)
        for chunk in chunks
        if chunk.pk in first
    ]
