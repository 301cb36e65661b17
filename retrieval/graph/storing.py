"""The SQL that writes what extraction found. Every statement may run again and then changes nothing.

Rows are locked in order of id, so that two workers with the same names wait for each other and never in
a ring. What arrives in another order ends in the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from retrieval.graph.extraction.types import Edge, Verified
from retrieval.graph.naming import entity_id, key_of

Identity = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Added:
    """How many rows were new."""

    entities: int = 0
    mentions: int = 0
    relationships: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """An entity as it is stored."""

    id: UUID
    type: str
    key: str
    sense: int
    # Where its edges are: itself, or what it was merged into.
    canonical: UUID


def present(chunks: Sequence[int]) -> dict[int, tuple[UUID, str]]:
    """Return document and hash of the passages that are still there, and keep them until the commit."""
    rows = _rows(
        """
        SELECT id, document_id, content_sha256 FROM corpus_chunk WHERE id = ANY(%s)
        ORDER BY id FOR KEY SHARE
        """,
        list(chunks),
    )
    return {chunk: (document, sha256) for chunk, document, sha256 in rows}


def entities(named: dict[Identity, str]) -> tuple[list[Row], int]:
    """Return the entities of these types and keys in every sense, new ones made, and how many are new."""
    wanted = sorted(
        (entity_id(entity_type=each[0], key=each[1]), *each, name) for each, name in named.items()
    )
    ids, types, keys, names = (list(column) for column in zip(*wanted, strict=True))
    new = _rows(
        """
        INSERT INTO retrieval_entity (id, type, key, sense, name)
        SELECT id, type, key, 0, name
        FROM unnest(%s::uuid[], %s::text[], %s::text[], %s::text[]) AS new (id, type, key, name)
        ON CONFLICT (type, key, sense) DO NOTHING RETURNING id
        """,
        ids, types, keys, names,
    )  # fmt: skip
    named_so = "WHERE (type, key) IN (SELECT * FROM unnest(%s::text[], %s::text[]))"
    # With what they were merged into, where their edges are: all entities before any edge, in order of id.
    _rows(
        f"""
        SELECT 1 FROM retrieval_entity WHERE id IN (
            SELECT unnest(ARRAY[id, canonical_entity_id]) FROM retrieval_entity {named_so})
        ORDER BY id FOR NO KEY UPDATE
        """,  # noqa: S608 - ours
        types, keys,
    )  # fmt: skip
    # Read only now: while this waited, a sense may have been split off.
    found = _rows(
        f"""
        SELECT id, type, key, sense, COALESCE(canonical_entity_id, id) FROM retrieval_entity {named_so}
        ORDER BY id
        """,  # noqa: S608 - ours
        types, keys,
    )  # fmt: skip
    return [Row(*row) for row in found], len(new)


def senses(rows: Sequence[Row], passages: Mapping[int, str]) -> dict[tuple[Identity, int], Row]:
    """Return which sense a name has in each of these passages, given with their hashes, that a split parted.

    By the mentions that are there, and by the text of passages that were taken in again. A sense that had
    gone with its passages is made again.
    """
    known = {(row.type, row.key, row.sense): row for row in rows}
    split = {row.id: row for row in rows if row.sense}
    found = {
        ((split[entity].type, split[entity].key), chunk): split[entity]
        for entity, chunk in _mentioned(list(split), list(passages))
    }
    first = {row.id: row for row in rows if row.sense == 0}
    for entity, sense, chunk in _remembered(list(first), passages):
        identity = (first[entity].type, first[entity].key)
        if (*identity, sense) not in known:
            known[*identity, sense] = _made_again(first[entity], sense)
        found[identity, chunk] = known[*identity, sense]
    return found


def _mentioned(senses: list[UUID], chunks: list[int]) -> Sequence[tuple[Any, ...]]:
    if not senses:
        return ()
    return _rows(
        """
        SELECT DISTINCT entity_id, chunk_id FROM retrieval_mention
        WHERE entity_id = ANY(%s) AND chunk_id = ANY(%s)
        """,
        senses, chunks,
    )  # fmt: skip


def _remembered(first: list[UUID], passages: Mapping[int, str]) -> Sequence[tuple[Any, ...]]:
    chunks, hashes = list(passages), list(passages.values())
    return _rows(
        """
        SELECT held.first_id, held.sense, passage.chunk
        FROM unnest(%s::bigint[], %s::text[]) AS passage (chunk, content_sha256)
        JOIN retrieval_passagesense AS held ON held.content_sha256 = passage.content_sha256
        WHERE held.first_id = ANY(%s)
        """,
        chunks, hashes, first,
    )  # fmt: skip


def _made_again(first: Row, sense: int) -> Row:
    # Whoever makes it holds its first sense.
    identifier = entity_id(entity_type=first.type, key=first.key, sense=sense)
    _execute(
        """
        INSERT INTO retrieval_entity (id, type, key, sense, name)
        SELECT %s, type, key, %s, name FROM retrieval_entity WHERE id = %s
        ON CONFLICT (type, key, sense) DO NOTHING
        """,
        identifier, sense, first.id,
    )  # fmt: skip
    return Row(identifier, first.type, first.key, sense, identifier)


class Placing:
    """Which entity a name means in each passage."""

    def __init__(self, rows: Sequence[Row], senses: dict[tuple[Identity, int], Row]) -> None:
        self._first = {(row.type, row.key): row for row in rows if row.sense == 0}
        self._senses = senses

    def row(self, identity: Identity, chunk: int) -> Row:
        """Return the entity."""
        return self._senses.get((identity, chunk)) or self._first[identity]


def mentions(verified: Sequence[Verified], documents: dict[int, UUID], placing: Placing) -> int:
    """Store where things are named; return how many rows are new."""
    rows = sorted(
        (
            placing.row((found.type, found.key), page.passage.chunk).id,
            page.passage.chunk,
            spot.text,
            spot.start,
        )
        for page in verified
        for found in page.entities
        for spot in found.spots
    )
    return _insert(
        """
        INSERT INTO retrieval_mention (entity_id, chunk_id, document_id, surface, surface_key, start)
        SELECT * FROM unnest(%s::uuid[], %s::bigint[], %s::uuid[], %s::text[], %s::text[], %s::int[])
        ON CONFLICT (entity_id, chunk_id, surface) DO NOTHING
        """,
        [
            (entity, chunk, documents[chunk], surface, key_of(surface), start)
            for entity, chunk, surface, start in rows
        ],
    )


def descriptions(verified: Sequence[Verified], documents: dict[int, UUID], placing: Placing) -> None:
    """Store the sentences that say what things are; the first of a passage stays."""
    rows = {
        (placing.row((found.type, found.key), page.passage.chunk).id, page.passage.chunk): found.description
        for page in verified
        for found in page.entities
        if found.description is not None
    }
    _insert(
        """
        INSERT INTO retrieval_description (entity_id, chunk_id, document_id, quote, start)
        SELECT * FROM unnest(%s::uuid[], %s::bigint[], %s::uuid[], %s::text[], %s::int[])
        ON CONFLICT (entity_id, chunk_id) DO UPDATE SET quote = EXCLUDED.quote, start = EXCLUDED.start
        WHERE (EXCLUDED.start, EXCLUDED.quote) < (retrieval_description.start, retrieval_description.quote)
        """,
        [(*place, documents[place[1]], spot.text, spot.start) for place, spot in sorted(rows.items())],
    )


def relationships(verified: Sequence[Verified], documents: dict[int, UUID], placing: Placing) -> int:
    """Store what passages say; an edge that is there keeps the higher confidence. Return how many are new."""
    best: dict[tuple[UUID, UUID, str, int], Edge] = {}
    for page in verified:
        chunk = page.passage.chunk
        for edge in page.edges:
            source, target = (placing.row(end, chunk).canonical for end in (edge.source, edge.target))
            place = (source, target, edge.type, chunk)
            # Two names that were merged since may be one thing now.
            if source != target and (place not in best or _rank(edge) < _rank(best[place])):
                best[place] = edge
    rows = [
        (*place, documents[place[3]], edge.quote.text, edge.quote.start, edge.confidence)
        for place, edge in sorted(best.items(), key=lambda item: item[0])
    ]
    return _insert(
        """
        INSERT INTO retrieval_relationship AS held
            (source_id, target_id, type, chunk_id, document_id, quote, start, confidence)
        SELECT * FROM unnest(%s::uuid[], %s::uuid[], %s::text[], %s::bigint[], %s::uuid[], %s::text[],
            %s::int[], %s::float8[])
        ON CONFLICT (source_id, target_id, type, chunk_id) DO UPDATE
            SET confidence = EXCLUDED.confidence, quote = EXCLUDED.quote, start = EXCLUDED.start
            WHERE (-EXCLUDED.confidence, EXCLUDED.start, EXCLUDED.quote)
                < (-held.confidence, held.start, held.quote)
        """,
        rows,
    )


def names(ids: Iterable[UUID]) -> None:
    """Give entities the spelling that most passages use; of equals, the one with more small letters."""
    _execute(
        """
        UPDATE retrieval_entity AS entity SET name = used.surface
        FROM (
            SELECT DISTINCT ON (mention.entity_id) mention.entity_id, mention.surface
            FROM retrieval_mention AS mention
            JOIN retrieval_entity AS named ON named.id = mention.entity_id AND named.key = mention.surface_key
            WHERE mention.entity_id = ANY(%s)
            GROUP BY mention.entity_id, mention.surface
            ORDER BY mention.entity_id, count(*) DESC, mention.surface COLLATE "C" DESC
        ) AS used
        WHERE entity.id = used.entity_id AND entity.name <> used.surface
        """,
        sorted(ids),
    )


def stamp(verified: Sequence[Verified], *, extractor: str) -> None:
    """Note that an extractor has read these passages."""
    _insert(
        """
        INSERT INTO retrieval_chunkstamp (chunk_id, extractor, content_sha256)
        SELECT * FROM unnest(%s::bigint[], %s::text[], %s::text[])
        ON CONFLICT (chunk_id, extractor) DO UPDATE
            SET content_sha256 = EXCLUDED.content_sha256, stamped_at = statement_timestamp()
        """,
        sorted((page.passage.chunk, extractor, page.passage.content_sha256) for page in verified),
    )


def _rank(edge: Edge) -> tuple[float, int, str]:
    return (-edge.confidence, edge.quote.start, edge.quote.text)


def _insert(statement: str, rows: Sequence[tuple[Any, ...]]) -> int:
    """Run an insertion for all rows at once; return how many were new, not how many were bettered."""
    if not rows:
        return 0
    columns = [list(column) for column in zip(*rows, strict=True)]
    return sum(new for (new,) in _rows(f"{statement} RETURNING (xmax = 0)::int", *columns))


def _rows(statement: str, *values: Any) -> Sequence[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _execute(statement: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
