"""What the tests of merges share: passages that say edges, proposals, and what the graph says of itself."""

from typing import Any

from corpus.models import Chunk
from retrieval.graph import queries
from retrieval.graph.naming import key_of
from retrieval.models import Description, Entity, Mention, MergeProposal, Relationship
from tests.factories.graph import EntityFactory, MentionFactory
from tests.integration.retrieval.graph.extracting import document


def passage(body: str, **fields: Any) -> Chunk:
    """A document of one passage."""
    return document(body, **fields).chunks.get()


def entity(name: str, **fields: Any) -> Entity:
    """The entity of that name."""
    found = Entity.objects.filter(key=key_of(name), **fields).order_by("sense", "type").first()
    made: Entity = found or EntityFactory(name=name, **fields)
    return made


def mention(name: str, chunk: Chunk, *, of: Entity | None = None) -> Mention:
    """That the passage names it, where it does."""
    made: Mention = MentionFactory(
        entity=of or entity(name), chunk=chunk, surface=name, start=chunk.body.index(name)
    )
    return made


def edge(source: str, target: str, chunk: Chunk, quote: str, **fields: Any) -> Relationship:
    """That the passage says an edge between two things, both of which it names."""
    for name in (source, target):
        if not Mention.objects.filter(chunk=chunk, surface=name).exists():
            mention(name, chunk)
    return Relationship.objects.create(
        source=entity(source),
        target=entity(target),
        chunk=chunk,
        document=chunk.document,
        quote=quote,
        start=chunk.body.index(quote),
        **{"type": "produces", "confidence": 1.0, **fields},
    )


def describe(name: str, chunk: Chunk, quote: str) -> Description:
    """That the passage says what it is."""
    start = chunk.body.index(quote)
    return Description.objects.create(
        entity=entity(name), chunk=chunk, document=chunk.document, quote=quote, start=start
    )


def propose(one: str | Entity, other: str | Entity, **fields: Any) -> MergeProposal:
    """That two might be one."""
    ends = [each if isinstance(each, Entity) else entity(each) for each in (one, other)]
    low, high = sorted(ends, key=lambda each: each.pk)
    values = {"tier": 1, "method": "name", "confidence": 1.0, **fields}
    return MergeProposal.objects.create(low=low, high=high, **values)


def dump() -> list[str]:
    """Everything the graph says."""
    return list(queries.dump())


def canonical(name: str) -> str:
    """The name of what an entity belongs to."""
    found = entity(name)
    return (found.canonical_entity or found).name


def triples() -> list[tuple[str, str, str, float]]:
    """The edges, by names."""
    rows = Relationship.objects.order_by("source__name", "target__name", "chunk", "id")
    return list(rows.values_list("source__name", "type", "target__name", "confidence"))
