"""Versions of embeddings and the rows and indexes that hold their vectors."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection, transaction
from django.utils import timezone
from pgvector import HalfVector

from corpus.gateways import embedding
from corpus.gateways.embedding import Embedder, EmbeddingError, Vectors
from corpus.models import Chunk, ChunkEmbedding, EmbeddingVersion

# Any constant does: it keeps two processes from creating the first version at once.
_VERSION_LOCK = 0x5C1_0001
# Shared by whoever stores passages, exclusive to whoever switches versions.
_SWITCH_LOCK = 0x5C1_0002
_M, _EF_CONSTRUCTION = 24, 200


class VersionSwitched(EmbeddingError):
    """Another version became the active one while vectors were made: they have to be made again."""


def active_version() -> EmbeddingVersion | None:
    """Return the version that queries use, or None while nothing was ever embedded."""
    return EmbeddingVersion.objects.filter(is_active=True).first()


def active_embedder() -> Embedder:
    """Return the embedder of the active version, whatever the settings choose by now.

    The corpus decides what questions and new passages are embedded with; the settings decide while it is
    empty, and name what `sci-rag embed reindex` moves to.
    """
    active = active_version()
    return embedding.configured_embedder() if active is None else embedding.embedder_of(active.name)


def ensure_version(embedder: Embedder) -> EmbeddingVersion:
    """Return the active version, which must be `embedder`'s; the first one ever becomes active.

    Raises `EmbeddingError` when the corpus is embedded with something else: vectors of two versions do
    not compare, so passages stored under a second one would be invisible to every question.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_VERSION_LOCK])
        active = active_version()
        if active is None:
            active, _ = EmbeddingVersion.objects.get_or_create(
                name=embedder.version, defaults={"dimensions": embedder.dimensions}
            )
            active.is_active, active.activated_at = True, timezone.now()
            active.save(update_fields=["is_active", "activated_at"])
    require_same_version(embedder, active)
    return active


def require_same_version(embedder: Embedder, version: EmbeddingVersion) -> None:
    """Raise `EmbeddingError` unless `embedder` makes the vectors of `version`."""
    if embedder.version != version.name:
        raise EmbeddingError(
            f"The corpus is embedded with {version.name}, and this is {embedder.version}. "
            "Move the corpus with 'sci-rag embed reindex', or set SCI_RAG_EMBEDDING_MODEL and "
            "SCI_RAG_EMBEDDING_DIMENSIONS back."
        )
    if embedder.dimensions != version.dimensions:
        raise EmbeddingError(
            f"{version.name} has {version.dimensions} dimensions in the database, "
            f"and {embedder.dimensions} in this program."
        )


def hold_active(version: EmbeddingVersion) -> None:
    """Keep `version` the active one until the caller's transaction ends.

    Raises `VersionSwitched` when it is not: passages stored with vectors of a retired version only would
    be found by words alone.
    """
    # Two statements, since the second has to see what was committed while the first waited; sent as one.
    statements = f"""
        SELECT pg_advisory_xact_lock_shared({_SWITCH_LOCK});
        SELECT 1 FROM corpus_embeddingversion WHERE id = {int(version.pk)} AND is_active
    """  # noqa: S608 - numbers
    with connection.cursor() as cursor:
        cursor.execute(statements)
        cursor.nextset()
        is_active = cursor.fetchone() is not None
    if not is_active:
        raise VersionSwitched(f"{version.name} is no longer the version that questions use.")


def hold_switch() -> None:
    """Wait until nobody stores passages, and keep it so until the caller's transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_SWITCH_LOCK])


def store(
    *, version: EmbeddingVersion, chunks: Sequence[Chunk], vectors: Vectors, again: bool = False
) -> None:
    """Store the vectors of saved `chunks`, row by row in the same order, in the caller's transaction.

    With `again`, passages that have theirs keep it.
    """
    if vectors.shape != (len(chunks), version.dimensions):
        raise EmbeddingError(
            f"{len(chunks)} passages need {len(chunks)} vectors of {version.dimensions} dimensions, "
            f"and got an array of shape {vectors.shape}."
        )
    ChunkEmbedding.objects.bulk_create(
        (
            ChunkEmbedding(
                version=version,
                chunk=chunk,
                document_id=chunk.document_id,
                rank_key=chunk.rank_key,
                vector=HalfVector(vector),
            )
            for chunk, vector in zip(chunks, vectors, strict=True)
        ),
        batch_size=500,
        ignore_conflicts=again,
    )


def exact_bound(dimensions: int) -> int:
    """Return up to how many eligible passages ranking all of them is faster than narrowing them first."""
    return 20_000 if dimensions <= 512 else 10_000


def index_bound() -> int:
    """Return up to how many passages comparing all their codes stays within a few dozen milliseconds."""
    return 2_000_000


def index_name(version_key: int) -> str:
    """Return the name of the approximate index over one version's vectors."""
    return f"corpus_embedding_hnsw_{int(version_key)}"


def has_index(version: EmbeddingVersion) -> bool:
    """Say whether the approximate index of `version` exists and is complete."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid",
            [index_name(version.pk)],
        )
        return cursor.fetchone() is not None


def build_index_when_large(version: EmbeddingVersion) -> bool:
    """Build the approximate index once a corpus outgrows its codes; say whether it was built.

    Call it after an ingestion, outside any transaction: the index is built while others write.
    """
    bound = index_bound()
    rows = ChunkEmbedding.objects.filter(version=version).order_by()[: bound + 1].count()
    if rows <= bound or has_index(version):
        return False
    build_index(version)
    return True


def build_index(version: EmbeddingVersion, *, memory: str = "1GB") -> None:
    """Build the HNSW index of one version's vectors, replacing a half-built one.

    One worker, because parallel builds of pgvector before 0.8.2 leaked other relations' memory, and they
    use shared memory that small containers do not have.
    """
    name, key, dimensions = index_name(version.pk), int(version.pk), int(version.dimensions)
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        try:
            cursor.execute("SET max_parallel_maintenance_workers = 0")
            cursor.execute("SELECT set_config('maintenance_work_mem', %s, false)", [memory])
            # Literals, not parameters: they are part of the index's definition.
            cursor.execute(
                f"CREATE INDEX CONCURRENTLY {name} ON corpus_chunkembedding"
                f" USING hnsw ((vector::halfvec({dimensions})) halfvec_cosine_ops)"
                f" WITH (m = {_M}, ef_construction = {_EF_CONSTRUCTION}) WHERE version_id = {key}"
            )
        finally:
            cursor.execute("RESET maintenance_work_mem")
            cursor.execute("RESET max_parallel_maintenance_workers")
