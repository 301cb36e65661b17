"""What the tests of communities share: papers that tie things together, and a build as its content."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from corpus.models import Document
from retrieval.graph.communities import building
from retrieval.graph.communities.building import Outcome
from retrieval.graph.communities.queries import current_build_of
from retrieval.graph.communities.summarising import Extractive, Summariser
from retrieval.models import CommunityBuild, Relationship
from tests.integration.retrieval.corpora import add
from tests.integration.retrieval.graphs import entity, mention

STRAW = ("straw", "methane", "digestate")
CHAR = ("biochar", "soil", "water")


def paper(title: str, *groups: tuple[str, ...], says: str = "acts on", **fields: Any) -> Document:
    """Store a paper in which each two of a group stand in a sentence of their own."""
    pairs = [pair for group in groups for pair in combinations(group, 2)]
    document = add(title, [" ".join(_sentence(pair, says) for pair in pairs)], **fields)
    for source, target in pairs:
        chunk = mention(document, source, target)
        Relationship.objects.create(
            source=entity(source), target=entity(target), type="causes", confidence=1.0, chunk=chunk,
            document=document, start=0, quote=_sentence((source, target), says),
        )  # fmt: skip
    return document


def _sentence(pair: tuple[str, str], says: str) -> str:
    return f"{pair[0]} {says} {pair[1]}."


def build(name: str = "open", summariser: Summariser | None = None) -> Outcome:
    return building.build(name=name, summariser=summariser or Extractive())


def current(name: str = "open") -> CommunityBuild:
    found = current_build_of(name)
    assert found is not None
    return found


def content(name: str = "open") -> list[tuple[Any, ...]]:
    """Return all that a build says, without ids of rows and times."""
    found = current(name)
    rows = [
        (
            row.level,
            row.key,
            row.parent and row.parent.key,
            row.title,
            row.summary,
            row.written_by,
            row.evidence_sha256,
            tuple(sorted(row.members.values_list("type", "key"))),
            tuple(sorted(row.documents.values_list("content_sha256", flat=True))),
            row.vector and tuple(row.vector),
        )
        for row in found.communities.select_related("parent")
    ]
    return [(found.graph_sha256, found.method, found.documents_read, found.size), *sorted(rows)]


def titles(name: str = "open") -> list[str]:
    return sorted(current(name).communities.values_list("title", flat=True))
