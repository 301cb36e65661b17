"""Passages whose meaning is near the question's, by cosine distance of their vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from corpus.gateways import embedding
from corpus.gateways.embedding import EmbeddingError, Vectors
from corpus.models import Document
from corpus.vector_codes import APART, planes
from corpus.vectors import exact_bound, index_bound, index_name
from retrieval.layers.base import LayerRequest, Session, Version
from retrieval.types import RankedList, Scored

# Adding zero makes the order an expression that no index holds. Planner switches would not do: psycopg
# prepares a statement after five uses, and the prepared plan ignores what is set later. OFFSET 0 keeps a
# subquery as it is written: vectors are read by document, not all of them.
_EXACT = """
WITH eligible AS MATERIALIZED ({eligible})
SELECT embedding.chunk_id, (embedding.vector <=> %s::halfvec) + 0 AS distance
FROM eligible CROSS JOIN LATERAL (
    SELECT chunk_id, rank_key, vector FROM corpus_chunkembedding embedding
    WHERE embedding.version_id = %s AND embedding.document_id = eligible.id OFFSET 0
) embedding
ORDER BY distance, embedding.rank_key, embedding.chunk_id
LIMIT %s
"""

# The two stages: the eligible passages whose codes are nearest the question's, ranked by their vectors.
_TWO_STAGES = """
WITH eligible AS MATERIALIZED ({eligible}),
near AS MATERIALIZED (
    SELECT embedding_id FROM ({codes}) coded ORDER BY apart, rank_key, embedding_id LIMIT %s
)
SELECT embedding.chunk_id, (embedding.vector <=> %s::halfvec) + 0 AS distance, (SELECT count(*) FROM near)
FROM near CROSS JOIN LATERAL (
    SELECT chunk_id, rank_key, vector FROM corpus_chunkembedding WHERE id = near.embedding_id OFFSET 0
) embedding
ORDER BY distance, embedding.rank_key, embedding.chunk_id
LIMIT %s
"""
_CODES_BY_DOCUMENT = f"""
SELECT code.* FROM eligible CROSS JOIN LATERAL (
    SELECT embedding_id, rank_key, {APART} AS apart
    FROM corpus_vectorcode WHERE document_id = eligible.id AND version_id = %s OFFSET 0
) code
"""  # noqa: S608 - the constant above
# Distance before eligibility: looking a document up costs more than comparing two codes.
_CODES_WITHIN = f"""
SELECT code.embedding_id, code.rank_key, code.apart FROM (
    SELECT embedding_id, rank_key, document_id, {APART} AS apart
    FROM corpus_vectorcode WHERE version_id = %s AND {APART} <= %s OFFSET 0
) code WHERE code.document_id IN (SELECT id FROM eligible)
"""  # noqa: S608
# Whole pages hold passages of one document, which are near the question or far from it together: a
# quarter of the rows on four times the pages.
_SAMPLED = f"""
WITH eligible AS MATERIALIZED ({{eligible}})
SELECT percentile_disc(%s::float8[]) WITHIN GROUP (ORDER BY {APART})
FROM corpus_vectorcode TABLESAMPLE SYSTEM (%s)
WHERE version_id = %s AND embedding_id %% 4 = 0 AND document_id IN (SELECT id FROM eligible)
"""  # noqa: S608
_CODES = "SELECT reltuples FROM pg_class WHERE oid = 'corpus_vectorcode'::regclass"

# The inner order is the index's and may be relaxed; the outer one is the true order of what it gave.
# IS TRUE keeps the planner from starting at the documents instead of at the index.
_INDEX = """
WITH eligible AS MATERIALIZED ({eligible}),
near AS MATERIALIZED (
    SELECT chunk_id, rank_key, vector::halfvec({dimensions}) <=> %s::halfvec({dimensions}) AS distance
    FROM corpus_chunkembedding
    WHERE version_id = {version} AND (document_id IN (SELECT id FROM eligible)) IS TRUE
    ORDER BY vector::halfvec({dimensions}) <=> %s::halfvec({dimensions})
    LIMIT %s
)
SELECT chunk_id, distance FROM near ORDER BY distance + 0, rank_key, chunk_id LIMIT %s
"""
_HAS_INDEX = "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid"

EXACT, TWO_STAGES, INDEX = "exact", "exact-two-stage", "index"
_EF_SEARCH = "400"
_MAX_SCAN_TUPLES = "40000"
_OVER_FETCH = 4

# How many passages the first stage hands on: so many and one in so many of the eligible. In clusters
# without structure, the hardest case, the nearest ten of a million are among the nearest 0.3 % by code.
_NEAREST, _OF_ELIGIBLE = 1_000, 200
# From this share of all passages on, every code is read and looked up; below, the eligible documents' are.
_READ_EVERY_CODE_FROM = 0.25
# A guess from so many codes, or one in so many: from too few it is too small too often.
_SAMPLE, _OF_CODES = 2_000, 100
# From so many codes on, a second process is worth its start.
_IN_PARALLEL_FROM = 300_000


class VectorLayer:
    """Ranks the eligible passages exactly, a large number of them after narrowing it by their codes.

    An approximate index is never asked under a scope: rows one may not see take room in its graph and
    change which of one's own are found. Neither is it asked before codes have become slow.
    """

    name = "vector"

    def prepare(self, request: LayerRequest) -> Vectors | None:
        """Return the question's vector in the version this request is pinned to."""
        if request.version is None:
            return None
        # By the version in the database: the settings may name the one the corpus is moving to.
        embedder = embedding.embedder_of(request.version.name)
        vector = embedding.embed_query(request.question, embedder=embedder)
        if vector.shape != (request.version.dimensions,):
            raise EmbeddingError(
                f"the question's vector has not the {request.version.dimensions} dimensions of the corpus"
            )
        return vector

    def candidates(self, request: LayerRequest, prepared: Vectors | None, session: Session) -> RankedList:
        """Return the nearest eligible passages."""
        if request.version is None or prepared is None:
            return RankedList(self.name)
        asked = _Asked(request, request.version, prepared, session)
        if not request.scope.restricted and request.passages > index_bound():
            found = asked.by_index()
            # Fewer than asked though more are there: the index lost its way, so rank them all.
            if found is not None and len(found) >= min(request.limit, request.passages):
                return RankedList.scored(self.name, found, INDEX)
        if request.passages > exact_bound(request.version.dimensions):
            return RankedList.scored(self.name, asked.in_two_stages(), TWO_STAGES)
        return RankedList.scored(self.name, asked.exactly(), EXACT)


def as_literal(vector: Vectors) -> str:
    """Return one vector as pgvector reads it."""
    return "[" + ",".join(map(repr, vector.tolist())) + "]"


def _similar(rows: Iterable[tuple[Any, ...]]) -> Scored:
    """Return passages with the cosine of the angle to the question."""
    return tuple((chunk_id, 1 - distance) for chunk_id, distance in rows)


@dataclass(frozen=True)
class _Asked:
    """One question's vector, put to the database in one of three ways."""

    request: LayerRequest
    version: Version
    values: Vectors
    session: Session

    @cached_property
    def vector(self) -> str:
        return as_literal(self.values)

    @cached_property
    def eligible(self) -> tuple[str, tuple[Any, ...]]:
        return Document.objects.eligible_sql(self.request.scope)

    def exactly(self) -> Scored:
        eligible, parameters = self.eligible
        rows = self.session.rows(
            _EXACT.format(eligible=eligible),
            [*parameters, self.vector, self.version.key, self.request.limit],
        )
        return _similar(rows)

    def in_two_stages(self) -> Scored:
        """Return the same whichever way the codes are read: what is handed on is defined by them alone."""
        ((codes,),) = self.session.rows(_CODES, [])
        code = planes(self.values)
        nearest = max(_NEAREST + self.request.passages // _OF_ELIGIBLE, 10 * self.request.limit)
        # Compiling takes longer than a statement runs.
        self.session.set_local("jit", "off")
        self.session.set_local("max_parallel_workers_per_gather", "2" if codes >= _IN_PARALLEL_FROM else "0")
        # The planner takes a third of the codes to be near enough and shuns handing those over: 2 % are.
        self.session.set_local("parallel_tuple_cost", "0")
        if self.request.passages >= _READ_EVERY_CODE_FROM * codes > nearest:
            for within in self._within(code, nearest, codes):
                parameters = [*code, self.version.key, *code, within]
                found, handed_on = self._ranked(_CODES_WITHIN, parameters, nearest)
                if handed_on == min(nearest, self.request.passages):
                    return found
        return self._ranked(_CODES_BY_DOCUMENT, [*code, self.version.key], nearest)[0]

    def _within(self, code: list[str], nearest: int, codes: float) -> list[float]:
        """Guess from a sample within which distance there are twice and six times the codes needed."""
        eligible, parameters = self.eligible
        sample = max(_SAMPLE, codes / _OF_CODES)
        shares = [min(1.0, max(n * nearest / self.request.passages, 10 / sample)) for n in (2, 6)]
        percent = min(100.0, 400 * sample / codes)
        ((within,),) = self.session.rows(
            _SAMPLED.format(eligible=eligible), [*parameters, shares, *code, percent, self.version.key]
        )
        return within or []

    def _ranked(self, codes: str, parameters: Sequence[object], nearest: int) -> tuple[Scored, int]:
        eligible, scope = self.eligible
        rows = self.session.rows(
            _TWO_STAGES.format(eligible=eligible, codes=codes),
            [*scope, *parameters, nearest, self.vector, self.request.limit],
        )
        return _similar(row[:2] for row in rows), rows[0][2] if rows else 0

    def by_index(self) -> Scored | None:
        if not self.session.rows(_HAS_INDEX, [index_name(self.version.key)]):
            return None
        self.session.set_local("hnsw.iterative_scan", "relaxed_order")
        self.session.set_local("hnsw.ef_search", _EF_SEARCH)
        self.session.set_local("hnsw.max_scan_tuples", _MAX_SCAN_TUPLES)
        eligible, parameters = self.eligible
        # Literals where the index's definition has them: a parameter would not match it.
        statement = _INDEX.format(
            eligible=eligible, dimensions=int(self.version.dimensions), version=int(self.version.key)
        )
        limit = self.request.limit
        rows = self.session.rows(
            statement, [*parameters, self.vector, self.vector, _OVER_FETCH * limit, limit]
        )
        return _similar(rows)
