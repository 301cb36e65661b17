"""Removing a document with everything made from it, and the certificate that says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

import pghistory
import pghistory.models
from django.db import models, transaction
from django.db.models.fields.reverse_related import ForeignObjectRel

from corpus import page_images, storage
from corpus.actions import rights, sources, supersession
from corpus.campaigns import downloads
from corpus.models import Chunk, Document, RightsDecision

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# What was decided about a document, when and by whom, outlives it; the words of the decision do not.
_KEPT: tuple[type[models.Model], ...] = (RightsDecision, pghistory.models.Event)


@dataclass(frozen=True, slots=True)
class Certificate:
    """What hung on a document before it was deleted, and what does after: rows by table, and the original.

    Rows that only pointed at it, such as those of a stored answer's sources, lose the pointer and stay.
    """

    document: UUID
    title: str
    content_sha256: str
    before: dict[str, int]
    after: dict[str, int]

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left."""
        return not any(self.after.values())


def delete(*, document_id: UUID, by: User | None = None) -> Certificate:
    """Delete a document, its passages, vectors and references; return the certificate.

    The rows go in one transaction, the original file and what a campaign fetched once it is committed,
    unless another document was made from the same file. What the document superseded is current again. Raises
    `Document.DoesNotExist`.
    """
    reason = {"reason": "Document deleted"} | ({} if by is None else {"user": by.pk})
    with transaction.atomic(), pghistory.context(**reason):
        document = Document.objects.select_for_update().get(pk=document_id)
        chunk_ids = list(document.chunks.order_by().values_list("pk", flat=True))
        before = _counts(document_id, chunk_ids)
        title, text, file_sha256 = document.title, document.content_sha256, document.file_sha256
        source_id = document.source_id
        for older in Document.objects.filter(superseded_by=document).order_by("id"):
            supersession.undo(document=older, by=by, note="Its successor was deleted")
        _forget_file_names(document)
        document.delete()
        rights.forget_words(document_id=document_id)
        if source_id is not None:
            sources.let_go(source_id)
        is_last = not Document.objects.filter(file_sha256=file_sha256).exists()
        after = _counts(document_id, chunk_ids)
        if is_last:
            transaction.on_commit(partial(storage.remove, file_sha256))
            transaction.on_commit(partial(page_images.forget, file_sha256))
            transaction.on_commit(partial(downloads.forget, file_sha256))
    before["original file"] = 1 if is_last else 0
    after["original file"] = int(is_last and storage.path_of(file_sha256).exists())
    return Certificate(document_id, title, text, before, after)


def preview(*, document_id: UUID) -> Certificate:
    """Return the counts that a deletion would begin with; delete nothing."""
    document = Document.objects.get(pk=document_id)
    chunk_ids = list(document.chunks.order_by().values_list("pk", flat=True))
    counts = _counts(document_id, chunk_ids)
    return Certificate(document.pk, document.title, document.content_sha256, counts, counts)


def _forget_file_names(document: Document) -> None:
    """Have the runs that took a document in say its id in the place of its file's name."""
    document.ingestion_items.update(path=f"deleted {document.pk}", detail="", described={})


def _counts(document_id: UUID, chunk_ids: list[int]) -> dict[str, int]:
    """Count what points at the document or its passages, in every app's tables: none can be forgotten."""
    counts = {"documents": Document.objects.filter(pk=document_id).count()}
    pointing = [*_pointers(Document, [document_id]), *_pointers(Chunk, chunk_ids)]
    for name, count in pointing:
        counts[name] = counts.get(name, 0) + count()
    return dict(sorted(counts.items()))


def _pointers(target: type[models.Model], ids: Iterable[object]) -> Iterator[tuple[str, Callable[[], int]]]:
    for relation in target._meta.get_fields(include_hidden=True):
        if not isinstance(relation, ForeignObjectRel):
            continue
        model = relation.related_model
        if isinstance(model, str) or issubclass(model, _KEPT) or model._meta.proxy:
            continue
        rows = model._default_manager.filter(**{f"{relation.field.name}__in": list(ids)})
        yield f"{model._meta.verbose_name_plural} ({relation.field.name})", rows.count
