"""Entities, mentions and edges for the tests of retrieval, written as extraction would."""

from __future__ import annotations

from itertools import pairwise

from django.db.models import QuerySet
from django.utils import timezone

from corpus.egress import NOTHING_HELD
from corpus.gateways.embedding import configured_embedder
from corpus.models import Chunk, Document, EmbeddingVersion
from corpus.scope import RetrievalScope
from retrieval.graph.community_models import (
    BuildDocument,
    Community,
    CommunityBuild,
    CommunityDocument,
    CommunityMember,
)
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


def gather(wanted: RetrievalScope, *groups: tuple[str, ...], name: str = "test") -> CommunityBuild:
    """Store a current build for `wanted` with a community for each group of names that it lets be seen."""
    documents = Document.objects.within(wanted)
    build = CommunityBuild.objects.create(
        scope_name=name, scope=wanted.selection.as_dict(), graph_sha256="0" * 64, method="by hand"
    )
    read = documents.filter(pk__in=Mention.objects.values("document"))
    rows = [BuildDocument(build=build, document=document) for document in read]
    BuildDocument.objects.bulk_create(rows)
    for group in groups:
        edges = Relationship.objects.filter(
            source__name__in=group, target__name__in=group, document__in=documents
        )
        # What only others mention is no member: a build knows nothing of it.
        ends = {name for one in edges for name in (one.source.name, one.target.name)}
        if edges:
            _community(build, sorted(ends), edges)
    build.documents_read, build.is_current, build.finished_at = len(rows), True, timezone.now()
    build.save()
    return build


def _community(build: CommunityBuild, names: list[str], edges: QuerySet[Relationship]) -> None:
    summary = f"On {', '.join(names)}."
    vectors = configured_embedder().embed([summary], task="document", carries=NOTHING_HELD)
    community = Community.objects.create(
        build=build, key=key_of(summary), title=names[0], summary=summary, written_by="extractive",
        version=EmbeddingVersion.objects.get(), vector=vectors[0],
    )  # fmt: skip
    for name in names:
        CommunityMember.objects.create(community=community, entity=entity(name))
    for document in Document.objects.filter(pk__in=edges.values("document")):
        CommunityDocument.objects.create(community=community, document=document)
