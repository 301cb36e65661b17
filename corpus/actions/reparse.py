"""Giving a document the text that another reading of its original found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pghistory
from django.db import IntegrityError, transaction
from django.db.models import F, OuterRef, Subquery

from corpus import fingerprint, places, vectors
from corpus.actions import documents, quarantine
from corpus.actions.documents import AlreadyHeld
from corpus.gateways.embedding import Vectors
from corpus.models import Chunk, ChunkEmbedding, Document, DocumentCitation, EmbeddingVersion
from corpus.preparation import Prepared

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Beyond any ordinal, so that passages can change places without meeting.
_ASIDE = 10_000_000
_PLACE = (
    "ordinal", "section_path", "locator", "page_start", "page_end", "boxes", "is_table", "token_count",
    "citation_unit", "forward_references", "rank_key", "search_heading",
)  # fmt: skip
_BATCH = 200


class ReadMeanwhile(Exception):
    """Somebody else gave the document another text since it was looked at."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """How many passages a document has now, and how many of them it had before, word for word."""

    passages: int
    unchanged: int


def replace_text(
    *,
    document_id: UUID,
    read_from: str,
    prepared: Prepared,
    vectors_of_passages: Vectors | None,
    version: EmbeddingVersion,
    by: User | None = None,
) -> Replaced:
    """Replace the passages, references and parse of a document in one transaction; its id stays.

    A passage with the same content keeps its row, its id and every vector; one with the same words
    elsewhere keeps its public id. `read_from` is the content hash the document had when it was looked at.
    Raises `ReadMeanwhile`, `AlreadyHeld` when another document has the new text, `VersionSwitched`, and
    `Document.DoesNotExist`.
    """
    reason = {"reason": f"Read again by {prepared.parsed.parser}"} | ({} if by is None else {"user": by.pk})
    try:
        with transaction.atomic(), pghistory.context(**reason):
            vectors.hold_active(version)
            document = Document.objects.select_for_update().get(pk=document_id)
            if document.content_sha256 != read_from:
                raise ReadMeanwhile
            was_held = document.state == Document.State.QUARANTINED
            _describe(document, prepared)
            document.references.filter(origin=DocumentCitation.Origin.DOCUMENT).delete()
            documents.store_references(document, prepared)
            chunks, unchanged = _replace_chunks(document, prepared)
            document.passages_sha256 = fingerprint.seal_passages(document.pk)
            if vectors_of_passages is not None:
                vectors.store(version=version, chunks=chunks, vectors=vectors_of_passages, again=True)
            _let_go_what_was_read(document)
            if was_held != (document.state == Document.State.QUARANTINED):
                quarantine.say_so(document)
    except IntegrityError:
        same = Document.objects.filter(content_sha256=prepared.content_sha256).exclude(pk=document_id).first()
        if same is None:
            raise
        raise AlreadyHeld(same) from None
    return Replaced(len(chunks), unchanged)


def _describe(document: Document, prepared: Prepared) -> None:
    values: dict[str, Any] = documents.as_parsed(prepared)
    for name, value in values.items():
        setattr(document, name, value)
    document.rights_statement = document.rights_statement or prepared.metadata.rights_statement
    extra = {**document.extra, "chunking": asdict(prepared.chunking)}
    document.extra = places.with_hidden(extra, prepared.parsed.hidden)
    if document.fixity == Document.Fixity.PASSAGES_CHANGED:
        document.fixity = Document.Fixity.UNCHANGED
    document.save()


def _let_go_what_was_read(document: Document) -> None:
    """Let go of a document in which another reading finds only what a librarian has read and let go."""
    if document.state == Document.State.QUARANTINED and not places.unread(document):
        document.state, document.state_reason = Document.State.READY, ""
        document.save(update_fields=["state", "state_reason"])


def _replace_chunks(document: Document, prepared: Prepared) -> tuple[list[Chunk], int]:
    """Store the passages over those the document has; return them in order, and how many stayed."""
    held = list(document.chunks.defer("search_vector", "search_length").order_by("ordinal", "id"))
    by_content: dict[str, list[Chunk]] = {}
    for chunk in reversed(held):
        by_content.setdefault(chunk.content, []).append(chunk)
    chunks, kept, new = [], [], []
    for passage in prepared.passages:
        built = documents.build_chunk(document, passage)
        same = by_content.get(passage.content)
        if same:
            chunks.append(_moved(same.pop(), built))
            kept.append(chunks[-1])
        else:
            chunks.append(built)
            new.append(built)
    gone = [chunk for rest in by_content.values() for chunk in rest]
    _hand_down(gone, new)
    Chunk.objects.filter(pk__in=[chunk.pk for chunk in gone]).delete()
    Chunk.objects.filter(document=document).update(ordinal=F("ordinal") + _ASIDE)
    Chunk.objects.bulk_update(kept, _PLACE, batch_size=_BATCH)
    Chunk.objects.bulk_create(new, batch_size=_BATCH)
    rank = Chunk.objects.filter(pk=OuterRef("chunk_id")).values("rank_key")
    ChunkEmbedding.objects.filter(document=document).update(rank_key=Subquery(rank))
    return chunks, len(kept)


def _moved(chunk: Chunk, built: Chunk) -> Chunk:
    for name in _PLACE:
        setattr(chunk, name, getattr(built, name))
    return chunk


def _hand_down(gone: list[Chunk], new: list[Chunk]) -> None:
    """Give passages of the same words under another heading the public id that links to them use."""
    ids: dict[str, list[UUID]] = {}
    for chunk in reversed(gone):
        ids.setdefault(chunk.content_sha256, []).append(chunk.public_id)
    for chunk in new:
        if ids.get(chunk.content_sha256):
            chunk.public_id = ids[chunk.content_sha256].pop()
