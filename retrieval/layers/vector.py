"""Passages whose meaning is near the question's, by cosine distance of their vectors."""

from __future__ import annotations

from corpus.gateways import embedding
from corpus.gateways.embedding import EmbeddingError, Vectors
from corpus.models import Document
from corpus.vectors import exact_bound, index_name
from retrieval.layers.base import LayerRequest, Session, Version
from retrieval.types import RankedList

# Adding zero makes the order an expression that no index holds. Planner switches would not do: psycopg
# prepares a statement after five uses, and the prepared plan ignores what is set later.
_EXACT = """
WITH eligible AS MATERIALIZED ({eligible})
SELECT embedding.chunk_id
FROM corpus_chunkembedding embedding JOIN eligible ON eligible.id = embedding.document_id
WHERE embedding.version_id = %s
ORDER BY (embedding.vector <=> %s::halfvec) + 0, embedding.rank_key, embedding.chunk_id
LIMIT %s
"""

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
SELECT chunk_id FROM near ORDER BY distance + 0, rank_key, chunk_id LIMIT %s
"""
_HAS_INDEX = "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid"

EXACT, INDEX = "exact", "index"
_EF_SEARCH = "200"
_MAX_SCAN_TUPLES = "40000"
_OVER_FETCH = 4


class VectorLayer:
    """Ranks all eligible passages exactly; only an unrestricted request on a large corpus uses an index.

    An approximate index is never asked under a scope: rows one may not see take room in its graph and
    change which of one's own are found.
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
        vector = "[" + ",".join(map(repr, prepared.tolist())) + "]"
        if not request.scope.restricted and request.passages > exact_bound(request.version.dimensions):
            found = _by_index(request, request.version, vector, session)
            # Fewer than asked though more are there: the index lost its way, so rank them all.
            if found is not None and len(found) >= min(request.limit, request.passages):
                return RankedList(self.name, found, INDEX)
        return RankedList(self.name, _exactly(request, request.version, vector, session), EXACT)


def _exactly(request: LayerRequest, version: Version, vector: str, session: Session) -> tuple[int, ...]:
    eligible, parameters = Document.objects.eligible_sql(request.scope)
    rows = session.rows(_EXACT.format(eligible=eligible), [*parameters, version.key, vector, request.limit])
    return tuple(chunk_id for (chunk_id,) in rows)


def _by_index(
    request: LayerRequest, version: Version, vector: str, session: Session
) -> tuple[int, ...] | None:
    if not session.rows(_HAS_INDEX, [index_name(version.key)]):
        return None
    session.set_local("hnsw.iterative_scan", "relaxed_order")
    session.set_local("hnsw.ef_search", _EF_SEARCH)
    session.set_local("hnsw.max_scan_tuples", _MAX_SCAN_TUPLES)
    eligible, parameters = Document.objects.eligible_sql(request.scope)
    # Literals where the index's definition has them: a parameter would not match it.
    statement = _INDEX.format(eligible=eligible, dimensions=int(version.dimensions), version=int(version.key))
    rows = session.rows(statement, [*parameters, vector, vector, _OVER_FETCH * request.limit, request.limit])
    return tuple(chunk_id for (chunk_id,) in rows)
