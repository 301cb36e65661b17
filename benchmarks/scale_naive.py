"""What the layers are measured against: plain WHERE over an HNSW index, and a question's words AND-ed."""

from __future__ import annotations

from django.db import connection

from corpus.models import Document, EmbeddingVersion
from corpus.scope import RetrievalScope

_NEAR = """
SELECT chunk_id FROM corpus_chunkembedding
WHERE version_id = {version} AND document_id IN ({eligible})
ORDER BY vector::halfvec({dimensions}) <=> %s::halfvec({dimensions}) LIMIT %s
"""
_WORDS = """
SELECT chunk.id FROM corpus_chunk chunk, websearch_to_tsquery('english', %s) AS query
WHERE search_vector @@ query AND document_id IN ({eligible})
ORDER BY ts_rank(search_vector, query) DESC LIMIT %s
"""


def build_index(version: EmbeddingVersion, *, memory: str) -> None:
    """Build an HNSW index as pgvector does when nothing is said (m 16, ef_construction 64)."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('maintenance_work_mem', %s, false)", [memory])
        cursor.execute("SET max_parallel_maintenance_workers = 0")
        cursor.execute(
            "CREATE INDEX IF NOT EXISTS scale_naive ON corpus_chunkembedding USING hnsw"
            f" ((vector::halfvec({version.dimensions})) halfvec_cosine_ops) WHERE version_id = {version.pk}"
        )
        cursor.execute("RESET maintenance_work_mem")
        cursor.execute("RESET max_parallel_maintenance_workers")


def near(vector: str, version: EmbeddingVersion, scope: RetrievalScope, limit: int) -> list[int]:
    """Return what the index gives and the condition leaves; ef_search as it comes."""
    eligible, parameters = Document.objects.eligible_sql(scope)
    statement = _NEAR.format(eligible=eligible, version=version.pk, dimensions=version.dimensions)
    with connection.cursor() as cursor:
        cursor.execute(statement, [*parameters, vector, limit])
        return [key for (key,) in cursor.fetchall()]


def words(question: str, scope: RetrievalScope, limit: int) -> list[int]:
    """Return the passages that have every word of the question."""
    eligible, parameters = Document.objects.eligible_sql(scope)
    with connection.cursor() as cursor:
        cursor.execute(_WORDS.format(eligible=eligible), [question, *parameters, limit])
        return [key for (key,) in cursor.fetchall()]
