"""Entities, mentions and edges for the tests of retrieval, written as extraction would."""

from __future__ import annotations

from itertools import pairwise

from corpus.models import Chunk, Document
from retrieval.graph.models import Entity, Mention, Relationship
from retrieval.graph.naming import entity_id, key_of


def entity(name: str) -> Entity:
    key = key_of(name)
    return Entity.objects.get_or_create(
        id=entity_id(entity_type="concept", key=key), type="concept", key=key, name=name
    )[0]


def mention(document: Document, *names: str, ordinal: int = 0) -> Chunk:
    chunk = document.chunks.get(ordinal=ordinal)
    for name in names:
        Mention.objects.get_or_create(
            entity=entity(name),
            chunk=chunk,
            document=document,
            start=0,
            surface=name,
            surface_key=key_of(name),
        )
    return chunk


def edge(document: Document, source: str, target: str, *, confidence: float = 1.0, ordinal: int = 0) -> None:
    chunk = mention(document, source, target, ordinal=ordinal)
    Relationship.objects.create(
        source=entity(source), target=entity(target), type="causes", confidence=confidence, chunk=chunk,
        document=document, start=0, quote="so it is",
    )  # fmt: skip


def link(document: Document, names: tuple[str, ...]) -> None:
    """Mention in each passage those of `names` that it holds, and join each with the next."""
    for chunk in document.chunks.order_by("ordinal"):
        found = [name for name in names if name in chunk.body.lower()]
        for source, target in pairwise(found):
            edge(document, source, target, ordinal=chunk.ordinal)
        if len(found) == 1:
            mention(document, found[0], ordinal=chunk.ordinal)
