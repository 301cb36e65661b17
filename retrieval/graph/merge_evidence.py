"""What passages say of the sides of a pair: spellings, sentences and edges, a few of each, with the counts.

Whoever decides which entities are one may see every document; nothing here is within a scope.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from django.db import connection

from corpus.normalise import visible
from corpus.sentences import sentence_spans
from retrieval.graph.models import Entity

MOST_SENTENCES: Final = 3
MOST_EDGES: Final = 3
MOST_SPELLINGS: Final = 12
_BEFORE: Final = 400
_WINDOW: Final = 1200
_LONGEST: Final = 360

# A side is the entity a pair was found with; its mentions come before those of what it is part of.
_MENTIONS: Final = """
    SELECT side.id AS side, mention.id, mention.chunk_id, mention.document_id, mention.start,
        mention.surface, mention.entity_id = side.id AS is_its_own
    FROM retrieval_entity AS side
    JOIN retrieval_entity AS member
        ON COALESCE(side.canonical_entity_id, side.id) IN (member.id, member.canonical_entity_id)
    JOIN retrieval_mention AS mention ON mention.entity_id = member.id
    WHERE side.id = ANY(%s)
"""
_SPELLINGS: Final = f"""
    SELECT side, surface, count(*) FROM ({_MENTIONS}) AS named
    GROUP BY side, surface ORDER BY side, count(*) DESC, surface COLLATE "C"
"""  # noqa: S608 - constants
_SENTENCES: Final = f"""
    SELECT side, surface, LEAST(start, {_BEFORE}),
        substr(chunk.body, GREATEST(start - {_BEFORE}, 0) + 1, {_WINDOW}), document.title, document.id
    FROM (
        SELECT *, row_number() OVER (PARTITION BY side ORDER BY nth, NOT is_its_own, document_id, id) AS place
        FROM (
            SELECT *, row_number() OVER (
                PARTITION BY side, document_id ORDER BY NOT is_its_own, chunk_id, start, id) AS nth
            FROM ({_MENTIONS}) AS named
        ) AS of_documents
    ) AS placed
    JOIN corpus_chunk AS chunk ON chunk.id = placed.chunk_id
    JOIN corpus_document AS document ON document.id = placed.document_id
    WHERE place <= {MOST_SENTENCES} ORDER BY side, place
"""  # noqa: S608 - constants
_EDGES: Final = f"""
    SELECT side, total, source.name, type_of_edge, target.name, quote, confidence, document.title
    FROM (
        SELECT side.id AS side, edge.source_id, edge.target_id, edge.type AS type_of_edge, edge.quote,
            edge.confidence, edge.document_id, count(*) OVER (PARTITION BY side.id) AS total,
            row_number() OVER (PARTITION BY side.id ORDER BY edge.confidence DESC, edge.id) AS place
        FROM retrieval_entity AS side
        JOIN retrieval_relationship AS edge
            ON COALESCE(side.canonical_entity_id, side.id) IN (edge.source_id, edge.target_id)
        WHERE side.id = ANY(%s)
    ) AS placed
    JOIN retrieval_entity AS source ON source.id = placed.source_id
    JOIN retrieval_entity AS target ON target.id = placed.target_id
    JOIN corpus_document AS document ON document.id = placed.document_id
    WHERE place <= {MOST_EDGES} ORDER BY side, place
"""  # noqa: S608 - constants
_ON_ONE_LINE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """The sentence that names it, cut round the name."""

    before: str
    name: str
    after: str
    title: str
    document: UUID


@dataclass(frozen=True, slots=True)
class EdgeSaid:
    """What one passage says holds between two things."""

    source: str
    relation: str
    target: str
    quote: str
    confidence: float
    title: str


@dataclass(slots=True)
class Said:
    """What is said of one side. Lists are cut; the numbers count all."""

    mentions: int = 0
    edges: int = 0
    spellings: list[tuple[str, int]] = field(default_factory=list)
    more_spellings: int = 0
    sentences: list[Sentence] = field(default_factory=list)
    edges_said: list[EdgeSaid] = field(default_factory=list)


def members(sides: Collection[UUID]) -> dict[UUID, Entity]:
    """Return the entities of `sides` with all that are one with them, by id."""
    ids = [
        pk
        for (pk,) in _rows(
            """
            SELECT DISTINCT member.id FROM retrieval_entity AS side
            JOIN retrieval_entity AS member
                ON COALESCE(side.canonical_entity_id, side.id) IN (member.id, member.canonical_entity_id)
            WHERE side.id = ANY(%s)
            """,
            sides,
        )
    ]
    return {row.pk: row for row in Entity.objects.filter(pk__in=ids).order_by("pk")}


def said(sides: Collection[UUID], members: Mapping[UUID, Entity]) -> dict[UUID, Said]:
    """Return what passages say of each of `sides`, which all are among `members`."""
    found = {side: Said() for side in sides}
    for side, surface, count in _rows(_SPELLINGS, sides):
        of_it = found[side]
        of_it.mentions += count
        if len(of_it.spellings) < MOST_SPELLINGS:
            of_it.spellings.append((surface, count))
        else:
            of_it.more_spellings += 1
    for side, surface, start, words, title, document in _rows(_SENTENCES, sides):
        before, name, after = cut(words, start, surface)
        found[side].sentences.append(Sentence(before, name, after, title, document))
    for side, total, *edge in _rows(_EDGES, sides):
        found[side].edges = total
        found[side].edges_said.append(EdgeSaid(*edge))
    return found


def cut(words: str, start: int, surface: str) -> tuple[str, str, str]:
    """Return the sentence of `words` in which `surface` stands at `start`, cut round it, not too long."""
    end = start + len(surface)
    spans = [span for span in sentence_spans(words) if span[0] <= start < span[1]]
    first, last = spans[0] if spans else (0, len(words))
    last = max(last, end)
    before, name, after = (
        _ON_ONE_LINE.sub(" ", visible(part))
        for part in (words[first:start], words[start:end], words[end:last])
    )
    if len(before) > _LONGEST:
        before = f"…{before[-_LONGEST:]}"
    if len(after) > _LONGEST:
        after = f"{after[:_LONGEST]}…"
    return before, name, after


def _rows(statement: str, ids: Collection[UUID]) -> Sequence[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, [sorted(ids)])
        found: Sequence[tuple[Any, ...]] = cursor.fetchall()
    return found
