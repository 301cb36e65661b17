"""The graph as one scope sees it, read for its communities: rows of contributing documents and no others.

A tombstone counts as what it was merged into. Even the name by which a thing is told from others is one that
a contributing document gives it, so that nothing here depends on what is out of scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db import connection

from corpus.scope import RetrievalScope
from retrieval.graph.communities.clustering import Name
from retrieval.graph.communities.scopes import contributors

# The best quotes of two entities; a summary has use for no more.
QUOTES_EACH: Final = 3

# The rights and status of the documents, and each edge by what it says and where.
_STAMP = """
, edges AS (
    SELECT sha256(convert_to(concat_ws(E'\\x1f',
        edge.source_id, edge.target_id, edge.type, edge.confidence, document.content_sha256, chunk.ordinal,
        edge.start, edge.quote), 'UTF8')) AS line
    FROM retrieval_relationship edge
    JOIN read ON read.id = edge.document_id
    JOIN corpus_document document ON document.id = edge.document_id
    JOIN corpus_chunk chunk ON chunk.id = edge.chunk_id
)
SELECT encode(sha256(
    convert_to(concat_ws(E'\\n', %s, (
        SELECT string_agg(concat_ws(' ', document.content_sha256, document.license_class,
                coalesce(source.is_retracted, false), document.extra ->> 'chunking'),
            E'\\n' ORDER BY document.content_sha256)
        FROM read JOIN corpus_document document ON document.id = read.id
        LEFT JOIN corpus_source source ON source.id = document.source_id), ''), 'UTF8')
    || coalesce((SELECT string_agg(line, ''::bytea ORDER BY line) FROM edges), ''::bytea)), 'hex')
"""

_DOCUMENTS = """
SELECT read.id FROM read
WHERE EXISTS (SELECT 1 FROM retrieval_mention mention WHERE mention.document_id = read.id)
    OR EXISTS (SELECT 1 FROM retrieval_relationship edge WHERE edge.document_id = read.id)
ORDER BY read.id
"""

_NAMES = """
SELECT DISTINCT ON (thing) thing, type, key, sense FROM (
    SELECT COALESCE(entity.canonical_entity_id, entity.id) AS thing, entity.type, entity.key, entity.sense
    FROM retrieval_entity entity
    WHERE entity.id IN (
        SELECT mention.entity_id FROM retrieval_mention mention JOIN read ON read.id = mention.document_id)
) named
ORDER BY thing, type COLLATE "C", key COLLATE "C", sense
"""

# Which thing an edge has at either end, whatever was merged into it, the lesser id first.
_EDGES = """
, edges AS (
    SELECT LEAST(source.thing, target.thing) AS one, GREATEST(source.thing, target.thing) AS other,
        (edge.confidence * 10)::int AS tenths, edge.document_id, edge.chunk_id, edge.start, edge.type,
        edge.quote
    FROM retrieval_relationship edge
    JOIN read ON read.id = edge.document_id
    JOIN (SELECT id, COALESCE(canonical_entity_id, id) AS thing FROM retrieval_entity) source
        ON source.id = edge.source_id
    JOIN (SELECT id, COALESCE(canonical_entity_id, id) AS thing FROM retrieval_entity) target
        ON target.id = edge.target_id
    WHERE source.thing <> target.thing
)
"""

_TIES = (
    _EDGES
    + """
SELECT one, other, document_id, sum(tenths)::int FROM edges GROUP BY one, other, document_id
"""
)

_QUOTES = (
    _EDGES  # noqa: S608 - constants
    + """
SELECT one, other, quote FROM (
    SELECT one, other, edges.quote, row_number() OVER (PARTITION BY one, other ORDER BY
        tenths DESC, document.content_sha256, chunk.ordinal, edges.start, edges.type, edges.quote COLLATE "C"
    ) AS nth
    FROM edges
    JOIN corpus_document document ON document.id = edges.document_id
    JOIN corpus_chunk chunk ON chunk.id = edges.chunk_id
    WHERE one = ANY(%s) AND other = ANY(%s)
) ranked
WHERE nth <= %s
ORDER BY one, other, nth
"""
)

_SPELLINGS = """
SELECT COALESCE(entity.canonical_entity_id, entity.id), mention.document_id, mention.surface,
    bool_or(mention.surface_key = entity.key), count(*)
FROM retrieval_entity entity
JOIN retrieval_mention mention ON mention.entity_id = entity.id
JOIN read ON read.id = mention.document_id
WHERE entity.id = ANY(%s) OR entity.canonical_entity_id = ANY(%s)
GROUP BY 1, 2, 3
"""


@dataclass(frozen=True, slots=True)
class Tie:
    """How strongly one document ties two things, in tenths of a direct statement."""

    one: UUID
    other: UUID
    document: UUID
    tenths: int


@dataclass(frozen=True, slots=True)
class Spelling:
    """How one document writes a thing, how often, and whether that is its name and no alias."""

    document: UUID
    surface: str
    is_name: bool
    count: int


class Graph:
    """What can be read of one scope. For one reading: inside one transaction that sees one moment."""

    def __init__(self, wanted: RetrievalScope) -> None:
        self._read, self._parameters = contributors(wanted).order_by().values("id").query.sql_with_params()
        self._scope = wanted.selection.digest()

    def stamp(self) -> str:
        """Return the hash of all that decides about the communities; rows elsewhere do not enter it."""
        ((value,),) = self._rows(_STAMP, self._scope)
        return str(value)

    def documents(self) -> list[UUID]:
        """Return the documents that have rows in this graph."""
        return [key for (key,) in self._rows(_DOCUMENTS)]

    def names(self) -> dict[UUID, Name]:
        """Return the name by which each thing is told from others: the first that documents give it."""
        return {thing: (kind, key, sense) for thing, kind, key, sense in self._rows(_NAMES)}

    def ties(self) -> list[Tie]:
        """Return what ties two things, document by document."""
        return [Tie(*row) for row in self._rows(_TIES)]

    def quotes(self, things: Sequence[UUID]) -> dict[tuple[UUID, UUID], list[str]]:
        """Return the surest quotes for every two of `things` that are tied, best first."""
        found: dict[tuple[UUID, UUID], list[str]] = {}
        for one, other, quote in self._rows(_QUOTES, list(things), list(things), QUOTES_EACH):
            found.setdefault((one, other), []).append(quote)
        return found

    def spellings(self, things: Sequence[UUID]) -> dict[UUID, list[Spelling]]:
        """Return how documents write `things`."""
        found: dict[UUID, list[Spelling]] = {}
        for thing, *rest in self._rows(_SPELLINGS, list(things), list(things)):
            found.setdefault(thing, []).append(Spelling(*rest))
        return found

    def _rows(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(
                f"WITH read AS MATERIALIZED ({self._read}) {statement}", [*self._parameters, *parameters]
            )
            return list(cursor.fetchall())
