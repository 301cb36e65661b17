"""The graph as text that depends on its content alone, to compare two graphs, or one with itself later."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from django.db.models import F, QuerySet

from corpus.querysets import DocumentQuerySet
from retrieval.graph.models import Description, Entity, Mention, Relationship

# A passage by what it says and where it stands, not by its row.
_PASSAGE = ("document__content_sha256", "chunk__ordinal")
_NAME = ("type", "key", "sense")


def dump(documents: DocumentQuerySet | None = None) -> Iterator[str]:
    """Yield a line for each fact of the graph, in an order of its own; of `documents` alone when given.

    Ids of rows, times and the order of ingestion change nothing. Entities without evidence do not show.
    """
    lines = [
        *_facts("mention", Mention.objects.all(), documents, "entity", "surface", "start"),
        *_facts("description", Description.objects.all(), documents, "entity", "quote", "start"),
        *_edges(documents),
    ]
    if documents is None:
        lines += _merges()
    yield from sorted(json.dumps(line, ensure_ascii=False) for line in lines)


def digest(documents: DocumentQuerySet | None = None) -> str:
    """Return the SHA-256 of the dump."""
    found = hashlib.sha256()
    for line in dump(documents):
        found.update(f"{line}\n".encode())
    return found.hexdigest()


def _facts(
    kind: str, rows: QuerySet[Any], documents: DocumentQuerySet | None, end: str, *fields: str
) -> Iterator[list[object]]:
    names = [f"{end}__{name}" for name in _NAME]
    for row in _within(rows, documents).values_list(*_PASSAGE, *names, *fields):
        yield [kind, *row]


def _edges(documents: DocumentQuerySet | None) -> Iterator[list[object]]:
    ends = [f"{end}__{name}" for end in ("source", "target") for name in _NAME]
    rows = _within(Relationship.objects.all(), documents)
    for row in rows.values_list(*_PASSAGE, *ends, "type", "confidence", "quote", "start"):
        yield ["edge", *row]


def _merges() -> Iterator[list[object]]:
    merged = Entity.objects.filter(canonical_entity__isnull=False)
    for row in merged.values_list(*_NAME, *(F(f"canonical_entity__{name}") for name in _NAME)):
        yield ["merged", *row]


def _within(rows: QuerySet[Any], documents: DocumentQuerySet | None) -> QuerySet[Any]:
    return rows if documents is None else rows.filter(document__in=documents)
