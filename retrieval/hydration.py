"""Load what candidates are, under the scope once more, and describe them as items."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping

import structlog

from corpus.audit.recording import Kind, record
from corpus.models import Chunk, Document
from corpus.scope import RetrievalScope
from retrieval.fusion import Fused, Place
from retrieval.types import Item, OtherVersion, Twin

logger = structlog.get_logger(__name__)

_AUTHORS_NAMED = 2
# What describes a passage. A pool is several times what is shown, and most columns are of no use here.
_COLUMNS = (
    "public_id", "ordinal", "body", "section_path", "locator", "page_start", "page_end", "is_table",
    "content_sha256", "indexed_at",
    *(f"document__{name}" for name in (
        "title", "authors", "year", "doi", "doi_normalised", "journal", "bucket", "license_class",
        "no_derivatives", "version_label", "status", "superseded_by", "content_sha256",
    )),
    *(f"document__source__{name}" for name in ("is_retracted", "has_concern", "is_corrected")),
)  # fmt: skip


def load(chunk_ids: Iterable[int], scope: RetrievalScope) -> dict[int, Chunk]:
    """Return the passages of `chunk_ids` that `scope` allows now.

    The layers applied the scope already. This is the second, independent check: what it drops was
    deleted or changed in between, or a layer is wrong: nobody gets to see it, and it is put on record.
    """
    wanted = set(chunk_ids)
    passages = (
        Chunk.objects.within(scope)
        .filter(pk__in=wanted)
        .select_related("document", "document__source")
        .only(*_COLUMNS)
        .order_by()
    )
    # In order here: Django compares every column with an order of the database's, for milliseconds.
    loaded = {passage.pk: passage for passage in sorted(passages, key=lambda passage: passage.pk)}
    if len(loaded) < len(wanted):
        dropped = len(wanted) - len(loaded)
        logger.warning("retrieval.recheck_dropped", passages=dropped)
        # On record, since it should be rare: how many, and not of what.
        record(Kind.RECHECKED, by=None, about={"passages": dropped}, once="recheck")
    return loaded


def visible_successors(passages: Iterable[Chunk], scope: RetrievalScope) -> dict[uuid.UUID, str]:
    """Return the titles of the superseding documents that `scope` allows, by their id.

    That a passage is superseded is said of itself; by what may not be said to everyone.
    """
    wanted = {key for passage in passages if (key := passage.document.superseded_by_id) is not None}
    if not wanted:
        return {}
    return dict(Document.objects.within(scope).filter(pk__in=wanted).values_list("pk", "title"))


def place(passage: Chunk) -> Place:
    """Return where a passage stands in the corpus, independent of keys and of when it was ingested."""
    return passage.document.content_sha256, passage.ordinal


def citation(document: Document) -> str:
    """Return the work as one line: authors, year, title, container."""
    names = [str(name) for name in document.authors]
    authors = names[0] + " et al." if len(names) > _AUTHORS_NAMED else " and ".join(names)
    year = f"({document.year})" if document.year else ""
    opening = " ".join(part for part in (authors, year) if part)
    parts = [opening, document.title, document.journal]
    return " ".join(f"{part.rstrip('.')}." for part in parts if part)


def twin(passage: Chunk) -> Twin:
    """Describe another document that has the same passage."""
    return Twin(
        id=str(passage.public_id),
        document_id=str(passage.document_id),
        title=passage.document.title,
        citation=citation(passage.document),
    )


def item(
    passage: Chunk,
    fused: Fused,
    *,
    score: float,
    adjustments: tuple[str, ...],
    also_in: tuple[Twin, ...],
    successors: Mapping[uuid.UUID, str],
    embedding_version: str,
    other_versions: tuple[OtherVersion, ...],
) -> Item:
    """Describe one passage as it was retrieved."""
    document, source = passage.document, passage.document.source
    successor = document.superseded_by_id if document.superseded_by_id in successors else None
    return Item(
        id=str(passage.public_id),
        chunk_pk=passage.pk,
        kind="chunk",
        document_id=str(document.pk),
        document_sha256=document.content_sha256,
        ordinal=passage.ordinal,
        title=document.title,
        section_path=tuple(passage.section_path),
        locator=passage.locator,
        page_start=passage.page_start,
        page_end=passage.page_end,
        body=passage.body,
        score=score,
        ranks=dict(sorted(fused.ranks.items())),
        license_class=document.license_class,
        no_derivatives=document.no_derivatives,
        bucket=document.bucket,
        citation=citation(document),
        doi=document.doi_normalised or document.doi,
        year=document.year,
        retracted=source is not None and source.is_retracted,
        concern=source is not None and source.has_concern,
        corrected=source is not None and source.is_corrected,
        superseded=document.status == Document.Status.SUPERSEDED,
        superseded_by_id=str(successor) if successor else "",
        superseded_by_title=successors[successor] if successor else "",
        embedding_version=embedding_version,
        content_sha256=passage.content_sha256,
        indexed_at=passage.indexed_at.isoformat(),
        is_table=passage.is_table,
        also_in=also_in,
        adjustments=adjustments,
        other_versions=other_versions,
    )
