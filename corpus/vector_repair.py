"""Whether vectors and their codes are those of their passages, and making them so again.

Triggers keep it so. This is for a database that was written to past them, or restored by hand.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection, transaction

_ASTRAY = """
FROM corpus_chunkembedding AS embedding JOIN corpus_chunk AS chunk ON chunk.id = embedding.chunk_id
WHERE embedding.document_id <> chunk.document_id OR embedding.rank_key <> chunk.rank_key
"""
_WITHOUT_CODE = """
FROM corpus_chunkembedding AS embedding WHERE NOT EXISTS (
    SELECT FROM corpus_vectorcode AS code WHERE code.embedding_id = embedding.id
        AND code.version_id = embedding.version_id AND code.rank_key = embedding.rank_key
        AND code.document_id = embedding.document_id)
"""
_LEFT_OVER = """
FROM corpus_vectorcode AS code WHERE NOT EXISTS (
    SELECT FROM corpus_chunkembedding AS embedding WHERE embedding.id = code.embedding_id)
"""
_MEND = f"""
UPDATE corpus_chunkembedding AS kept SET document_id = chunk.document_id, rank_key = chunk.rank_key
FROM corpus_chunk AS chunk WHERE chunk.id = kept.chunk_id AND kept.id IN (SELECT embedding.id {_ASTRAY});
DELETE FROM corpus_vectorcode WHERE embedding_id IN (SELECT code.embedding_id {_LEFT_OVER});
INSERT INTO corpus_vectorcode AS kept (version_id, code, embedding_id, rank_key, document_id)
SELECT version_id, corpus_vector_code(vector), id, rank_key, document_id FROM corpus_chunkembedding
ON CONFLICT (embedding_id) DO UPDATE SET version_id = excluded.version_id, code = excluded.code,
    rank_key = excluded.rank_key, document_id = excluded.document_id
WHERE (kept.version_id, kept.code, kept.rank_key, kept.document_id)
    IS DISTINCT FROM (excluded.version_id, excluded.code, excluded.rank_key, excluded.document_id)
"""  # noqa: S608 - constants


@dataclass(frozen=True, slots=True)
class Astray:
    """How many vectors are not their passage's, lack their code, or left one behind."""

    vectors: int
    without_code: int
    codes: int

    @property
    def total(self) -> int:
        return self.vectors + self.without_code + self.codes


def astray() -> Astray:
    """Count what does not belong together. What a code says of its vector is not computed again."""
    statement = ", ".join(f"(SELECT count(*) {each})" for each in (_ASTRAY, _WITHOUT_CODE, _LEFT_OVER))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {statement}")
        return Astray(*cursor.fetchone())


@transaction.atomic
def repair() -> Astray:
    """Make every vector its passage's, and every code its vector's, computed anew; return what was astray."""
    found = astray()
    with connection.cursor() as cursor:
        cursor.execute(_MEND)
    return found
