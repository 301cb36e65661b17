"""Giving every passage a vector of another version beside the one in use, and switching over.

Questions go on with the active version until the switch, which is one transaction and happens only when
no passage lacks its new vector. What is taken in meanwhile is caught up with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from django.db import connection, transaction
from django.utils import timezone

from corpus import carrying, connections, vectors
from corpus.egress import EVERY_CLASS, Classes
from corpus.gateways.embedding import Embedder, EmbeddingError, Vectors, embedder_of
from corpus.gateways.embedding.hosted import HostedEmbedder
from corpus.models import Chunk, ChunkEmbedding, EmbeddingVersion
from corpus.usage import accounts, estimating
from corpus.usage import vectors as vector_costs
from corpus.usage.estimating import Estimate

BATCH = 128
# Requests that were pinned to a version when it was retired have ended by then.
GRACE = timedelta(minutes=2)
_TRIES = 20

# What has no vector and may have one: a licence can keep a text from whoever makes them.
_LACKING = """
NOT EXISTS (
    SELECT FROM corpus_chunkembedding embedding
    WHERE embedding.version_id = %(version)s AND embedding.chunk_id = chunk.id)
AND EXISTS (
    SELECT FROM corpus_document document
    WHERE document.id = chunk.document_id AND document.license_class = ANY(%(classes)s))
"""
# Documents before passages, as deleting one does: whoever comes second waits instead of dead-locking.
_HOLD_DOCUMENTS = "SELECT id FROM corpus_document WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE"


class SwitchRefused(EmbeddingError):
    """A version that may not become active, or may not go. The message says why."""


class Watcher(Protocol):
    """Somebody who watches passages being embedded."""

    def begin(self, total: int) -> None: ...
    def advance(self, count: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Coverage:
    """How far a version has come."""

    version: str
    dimensions: int
    is_active: bool
    embedded: int
    missing: int
    indexed: bool


def coverage(version: EmbeddingVersion) -> Coverage:
    """Count the passages with and without a vector of `version`."""
    return Coverage(
        version=version.name,
        dimensions=version.dimensions,
        is_active=version.is_active,
        embedded=ChunkEmbedding.objects.filter(version=version).count(),
        missing=missing(version),
        indexed=vectors.has_index(version),
    )


def _readable(version: EmbeddingVersion) -> Classes:
    """Return the licence classes whose passages may go to whoever makes the vectors of `version`."""
    try:
        embedder = embedder_of(version.name)
    except EmbeddingError:
        return EVERY_CLASS
    return embedder.readable if isinstance(embedder, HostedEmbedder) else EVERY_CLASS


def versions() -> list[Coverage]:
    """Return every version with how far it has come, the active one first."""
    return [coverage(version) for version in EmbeddingVersion.objects.order_by("-is_active", "-id")]


def missing(version: EmbeddingVersion) -> int:
    """Count the passages without a vector of `version` that may have one."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT count(*) FROM corpus_chunk chunk WHERE {_LACKING}",  # noqa: S608 - a constant
            {"version": version.pk, "classes": sorted(_readable(version))},
        )
        (count,) = cursor.fetchone()
    return int(count)


def version_for(embedder: Embedder) -> EmbeddingVersion:
    """Return the row of `embedder`'s version, made when there is none; the first one ever is active."""
    if vectors.active_version() is None:
        return vectors.ensure_version(embedder)
    version, _ = EmbeddingVersion.objects.get_or_create(
        name=embedder.version, defaults={"dimensions": embedder.dimensions}
    )
    return version


def reindex(*, embedder: Embedder, switches: bool, watcher: Watcher, batch: int = BATCH) -> Coverage:
    """Embed what lacks a vector of `embedder`'s version and switch to it; return how far it came.

    Every batch is kept as soon as it is made: interrupted, it goes on from there the next time. Raises
    `EmbeddingError` when the provider fails, `SwitchRefused` when passages come in faster than they can be
    embedded, and `CapReached` before a batch that the cap does not allow any more.
    """
    version = version_for(embedder)
    watcher.begin(missing(version))
    for attempt in range(_TRIES):
        fill(version=version, embedder=embedder, watcher=watcher, batch=batch)
        vectors.build_index_when_large(version)
        if not switches:
            break
        try:
            switch(version)
        except SwitchRefused:
            if attempt == _TRIES - 1:
                raise
        else:
            break
    version.refresh_from_db()
    return coverage(version)


def fill(*, version: EmbeddingVersion, embedder: Embedder, watcher: Watcher, batch: int = BATCH) -> int:
    """Store vectors of `version` until a whole pass finds no passage without; return how many were made.

    No connection is held while the embedder works.
    """
    if embedder.version != version.name:
        raise EmbeddingError(f"{embedder.version} does not make the vectors of {version.name}.")
    made, after = 0, 0
    while True:
        lacking = _next(version, after=after, limit=batch)
        if not lacking and not after:
            return made
        if not lacking:
            after = 0
            continue
        carries = carrying.of_documents({chunk.document_id for chunk in lacking})
        if (budget := accounts.current().budget) is not None:
            budget.check()
        connections.release()
        rows = embedder.embed([chunk.content for chunk in lacking], task="document", carries=carries)
        _keep(version, lacking, rows)
        after = lacking[-1].pk
        made += len(lacking)
        watcher.advance(len(lacking))


def estimate(embedder: Embedder) -> Estimate:
    """Return what embedding the passages without a vector of `embedder`'s version comes to."""
    if not vector_costs.are_made_elsewhere(embedder.version):
        return Estimate()
    version = EmbeddingVersion.objects.filter(name=embedder.version).first()
    everything = Chunk.objects.count()
    ordered = Chunk.objects.order_by("pk").values_list("content", flat=True)
    return vector_costs.estimate(
        embedder.version,
        count=everything if version is None else missing(version),
        sample=[ordered[place] for place in estimating.spread(range(everything))],
    )


def _next(version: EmbeddingVersion, *, after: int, limit: int) -> list[Chunk]:
    return list(
        Chunk.objects.raw(
            f"""
            SELECT chunk.id, chunk.document_id, chunk.rank_key, chunk.content FROM corpus_chunk chunk
            WHERE chunk.id > %(after)s AND {_LACKING} ORDER BY chunk.id LIMIT %(limit)s
            """,  # noqa: S608 - a constant
            {
                "version": version.pk,
                "classes": sorted(_readable(version)),
                "after": after,
                "limit": limit,
            },
        )
    )


@transaction.atomic
def _keep(version: EmbeddingVersion, chunks: Sequence[Chunk], rows: Vectors) -> None:
    """Store the vectors of the passages that still exist."""
    with connection.cursor() as cursor:
        cursor.execute(_HOLD_DOCUMENTS, [list({chunk.document_id for chunk in chunks})])
    # As they are now: a document that was read again meanwhile has other passages and another order.
    existing = Chunk.objects.only("document_id", "rank_key").in_bulk([chunk.pk for chunk in chunks])
    kept = [place for place, chunk in enumerate(chunks) if chunk.pk in existing]
    held = [existing[chunks[place].pk] for place in kept]
    vectors.store(version=version, chunks=held, vectors=rows[kept], again=True)


@transaction.atomic
def switch(version: EmbeddingVersion) -> bool:
    """Make `version` the one that questions use; return whether it was not already.

    Nobody stores passages while coverage is checked. Raises `SwitchRefused` when a passage lacks its
    vector. Requests that began before finish with the version they began with.
    """
    vectors.hold_switch()
    row = EmbeddingVersion.objects.select_for_update().get(pk=version.pk)
    if row.is_active:
        return False
    lacking = missing(row)
    if lacking:
        raise SwitchRefused(
            f"{lacking:,} passages have no vector of {row.name} yet. Run 'sci-rag embed reindex' for it."
        )
    now = timezone.now()
    EmbeddingVersion.objects.filter(is_active=True).update(is_active=False, retired_at=now)
    row.is_active, row.activated_at, row.retired_at = True, now, None
    row.save(update_fields=["is_active", "activated_at", "retired_at"])
    return True


def drop(version: EmbeddingVersion) -> int:
    """Remove a version that is not in use, its vectors and its index; return how many vectors went.

    Raises `SwitchRefused` for the active one, and for one that requests may still be using.
    """
    with transaction.atomic():
        vectors.hold_switch()
        row = EmbeddingVersion.objects.select_for_update().get(pk=version.pk)
        if row.is_active:
            raise SwitchRefused(f"{row.name} is the version that questions use. Switch to another first.")
        if row.retired_at is not None and timezone.now() - row.retired_at < GRACE:
            raise SwitchRefused(
                f"{row.name} was in use until a moment ago. Drop it when two minutes have passed."
            )
        rows = ChunkEmbedding.objects.filter(version=row)
        count: int = rows._raw_delete(rows.db)
        row.delete()
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {vectors.index_name(version.pk)}")
    return count
