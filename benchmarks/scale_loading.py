"""A synthetic corpus into the database by COPY, with its indexes built afterwards."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from benchmarks.scale_corpus import DIMENSIONS, PER_DOCUMENT, WORDS, World, Written
from corpus import vectors
from corpus.gateways.embedding import configured_embedder
from corpus.identity import rank_key
from corpus.models import Chunk, ChunkEmbedding, Document, EmbeddingVersion
from corpus.search_text import search_form

_AT_ONCE = 200
_CHUNK_COLUMNS = (
    "id, public_id, document_id, ordinal, body, content, section_path, locator, boxes, is_table, token_count,"
    " citation_unit, forward_references, content_sha256, rank_key, language, search_heading, search_body"
)


def load(world: World, *, memory: str) -> EmbeddingVersion:
    """Store the whole of `world`, build its indexes and bring the statistics up to date."""
    version = vectors.ensure_version(configured_embedder())
    if Chunk.objects.count() == world.documents * PER_DOCUMENT:
        return version
    first = 1
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX corpus_chunk_search")
        written = world.written()
        while some := list(islice(written, _AT_ONCE)):
            _documents(some)
            _copy(cursor.cursor, f"COPY corpus_chunk ({_CHUNK_COLUMNS}) FROM STDIN", _rows(some, first))
            _embeddings(cursor.cursor, version.pk, some, first)
            first += len(some) * PER_DOCUMENT
        cursor.execute("SELECT setval(pg_get_serial_sequence('corpus_chunk', 'id'), %s)", [first])
        cursor.execute("SELECT set_config('maintenance_work_mem', %s, false)", [memory])
        cursor.execute("CREATE INDEX corpus_chunk_search ON corpus_chunk USING gin (search_vector)")
        cursor.execute("RESET maintenance_work_mem")
        cursor.execute("VACUUM (ANALYZE)")
    return version


def _documents(some: Sequence[Written]) -> None:
    Document.objects.bulk_create(
        Document(
            pk=one.key, title=f"Document {one.digest[:8]}", content_sha256=one.digest, file_sha256=one.digest,
            file_name=f"{one.digest[:8]}.txt", media_type="text/plain", parser="benchmark",
            chunk_count=PER_DOCUMENT, state="ready", year=one.per_mille, license_class="public",
            journal=f"Cluster {one.cluster}", journal_folded=f"cluster {one.cluster}",
        )
        for one in some
    )  # fmt: skip


def _rows(some: Sequence[Written], first: int) -> Iterator[tuple[Any, ...]]:
    key = first
    for one in some:
        heading = search_form(f"Document {one.digest[:8]}")
        for ordinal, body in enumerate(one.bodies):
            public = hashlib.md5(f"{one.digest} {ordinal}".encode(), usedforsecurity=False).hexdigest()
            yield (
                key, public, one.key, ordinal, body, "", "[]", "", "[]", False, WORDS, "", "[]",
                hashlib.sha256(body.encode()).hexdigest(), rank_key(one.digest, ordinal), "en", heading, body,
            )  # fmt: skip
            key += 1


def _copy(cursor: Any, statement: str, rows: Iterator[tuple[Any, ...]]) -> None:
    with cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


# A row of PostgreSQL's binary COPY: a count of columns, then each with its length, all big-endian.
_ROW = np.dtype(
    [
        ("columns", ">i2"),
        ("version_size", ">i4"), ("version", ">i8"),
        ("chunk_size", ">i4"), ("chunk", ">i8"),
        ("document_size", ">i4"), ("document", "V16"),
        ("rank_key_size", ">i4"), ("rank_key", ">i8"),
        ("vector_size", ">i4"), ("dimensions", ">i2"), ("unused", ">i2"), ("vector", ">f2", DIMENSIONS),
    ]
)  # fmt: skip

_READ_BACK = """
COPY (SELECT document_id, vector FROM corpus_chunkembedding ORDER BY chunk_id) TO STDOUT (FORMAT BINARY)
"""
_READ = np.dtype(
    [
        ("columns", ">i2"),
        ("document_size", ">i4"), ("document", "V16"),
        ("vector_size", ">i4"), ("dimensions", ">i2"), ("unused", ">i2"), ("vector", ">f2", DIMENSIONS),
    ]
)  # fmt: skip


def _embeddings(cursor: Any, version: int, some: Sequence[Written], first: int) -> None:
    rows = np.zeros(len(some) * PER_DOCUMENT, dtype=_ROW)
    rows["columns"] = 5
    rows["version_size"] = rows["chunk_size"] = rows["rank_key_size"] = 8
    rows["document_size"], rows["vector_size"] = 16, 4 + 2 * DIMENSIONS
    rows["version"], rows["dimensions"] = version, DIMENSIONS
    rows["chunk"] = np.arange(first, first + len(rows))
    for place, one in enumerate(some):
        span = slice(place * PER_DOCUMENT, (place + 1) * PER_DOCUMENT)
        rows["document"][span] = np.void(one.key.bytes)
        rows["rank_key"][span] = [rank_key(one.digest, ordinal) for ordinal in range(PER_DOCUMENT)]
        rows["vector"][span] = one.vectors
    table = ChunkEmbedding._meta.db_table
    statement = (
        f"COPY {table} (version_id, chunk_id, document_id, rank_key, vector) FROM STDIN (FORMAT BINARY)"
    )
    with cursor.copy(statement) as copy:
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8) + rows.tobytes() + b"\xff\xff")


@dataclass(frozen=True, slots=True)
class Stored:
    """All passages in the order of their keys, which are 1, 2, 3, ...: what exact ranking is done on."""

    vectors: NDArray[np.float32]
    per_milles: NDArray[np.int64]
    clusters: NDArray[np.int64]

    def nearest(self, vector: NDArray[np.float32], among: NDArray[np.bool_], count: int) -> list[int]:
        """Return the keys of the nearest passages, as the stored half precision has them."""
        places = np.flatnonzero(among)
        near = self.vectors[places] @ vector.astype(np.float16).astype(np.float32)
        best = (
            np.argpartition(-near, min(count, len(near) - 1))[:count]
            if len(near) > count
            else np.arange(len(near))
        )
        return [int(places[place]) + 1 for place in best]


def stored(world: World) -> Stored:
    """Return what the database holds, read back by COPY."""
    size = world.documents * PER_DOCUMENT
    matrix = np.empty((size, DIMENSIONS), dtype=np.float32)
    per_milles, clusters = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    place = 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, year, journal_folded FROM corpus_document")
        documents = {key.bytes: (year, int(name.rpartition(" ")[2])) for key, year, name in cursor.fetchall()}
        with cursor.cursor.copy(_READ_BACK) as copy:
            held = b""
            for block in copy:
                held += bytes(block)
                if place == 0 and held.startswith(b"PGCOPY"):
                    held = held[19:]
                rows = np.frombuffer(held[: len(held) // _READ.itemsize * _READ.itemsize], dtype=_READ)
                rows = rows[: size - place]
                matrix[place : place + len(rows)] = rows["vector"]
                for row in rows["document"]:
                    per_milles[place], clusters[place] = documents[row.tobytes()]
                    place += 1
                held = held[len(rows) * _READ.itemsize :]
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return Stored(matrix, per_milles, clusters)
