"""The corpus as it is now, kept under a name: what a result can be checked against later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, connection, transaction

from corpus.curation import CorpusSnapshot
from corpus.fingerprint import fingerprint
from corpus.models import Chunk, Document, DocumentCitation, EmbeddingVersion
from corpus.scope import RetrievalScope


class NameTaken(ValueError):
    """There is a snapshot of this name: it is never replaced."""


def take(name: str) -> CorpusSnapshot:
    """Keep hashes, classes, statuses, counts and the fingerprint of the corpus under `name`.

    All of it is of one moment. Raises `NameTaken`.
    """
    with one_moment():
        state = _state()
    try:
        # In a transaction of its own: the record is sealed with it, after whatever was sealed meanwhile.
        with transaction.atomic():
            return CorpusSnapshot.objects.create(name=name, **state)
    except IntegrityError:
        raise NameTaken(f"There is a snapshot called {name}. Snapshots are never replaced.") from None


@contextmanager
def one_moment() -> Iterator[None]:
    """Open a transaction in which every statement sees the database of one moment, and none writes."""
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


def _state() -> dict[str, Any]:
    documents = Document.objects.order_by("content_sha256")
    version = EmbeddingVersion.objects.filter(is_active=True).first()
    return {
        "fingerprint": fingerprint(RetrievalScope()),
        "embedding_version": "" if version is None else version.name,
        "counts": {
            "documents": documents.count(),
            "passages": Chunk.objects.count(),
            "references": DocumentCitation.objects.count(),
        },
        "documents": [
            list(row) for row in documents.values_list("content_sha256", "license_class", "status")
        ],
    }
