"""Numbers about the whole corpus, for the operator's command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, Sum

from corpus.fingerprint import fingerprint
from corpus.models import Chunk, ChunkEmbedding, Document, DocumentCitation, EmbeddingVersion
from corpus.rights import ALL_CLASSES, EXTERNAL_SAFE, LicenseClass
from corpus.scope import RetrievalScope


def corpus_counts() -> dict[str, Any]:
    """Return what the corpus holds, by state, class, status and bucket, with its fingerprint."""
    documents = Document.objects.all()
    passages = Chunk.objects.aggregate(
        passages=Count("pk"), tokens=Sum("token_count"), tables=Count("pk", filter=Q(is_table=True))
    )
    version = EmbeddingVersion.objects.filter(is_active=True).first()
    embedded = 0 if version is None else ChunkEmbedding.objects.filter(version=version).count()
    return {
        "documents": documents.count(),
        "by_state": _by(documents, "state", Document.State.values),
        "by_license_class": _by(documents, "license_class", [str(item) for item in ALL_CLASSES]),
        "by_status": _by(documents, "status", Document.Status.values),
        "by_bucket": _by(documents, "bucket", []),
        "retracted": documents.filter(source__is_retracted=True).count(),
        "passages": passages["passages"],
        "tables": passages["tables"],
        "tokens": passages["tokens"] or 0,
        "references": DocumentCitation.objects.count(),
        "embedding": {
            "version": None if version is None else version.name,
            "passages": embedded,
            "missing": passages["passages"] - embedded,
        },
        "fingerprint": fingerprint(RetrievalScope()),
    }


def _by(documents: Any, name: str, known: list[str]) -> dict[str, int]:
    counts = dict(documents.order_by(name).values_list(name).annotate(Count("pk")))
    return {key: counts.get(key, 0) for key in [*known, *(key for key in counts if key not in known)]}


@dataclass(frozen=True, slots=True)
class LicenseReport:
    """Rights over the whole corpus: how much of it is in which class, and where nothing is declared."""

    classes: dict[str, tuple[int, int]]
    undeclared_buckets: dict[str, int]

    @property
    def documents(self) -> int:
        return sum(documents for documents, _ in self.classes.values())

    @property
    def passages(self) -> int:
        return sum(passages for _, passages in self.classes.values())

    @property
    def undeclared(self) -> int:
        return self.classes[LicenseClass.UNKNOWN][0]

    def safe_share(self) -> tuple[float, float]:
        """Return the share of documents and of passages that may be shown to anyone; 0 when empty."""
        documents = sum(self.classes[item][0] for item in EXTERNAL_SAFE)
        passages = sum(self.classes[item][1] for item in EXTERNAL_SAFE)
        return documents / max(self.documents, 1), passages / max(self.passages, 1)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        documents, passages = self.safe_share()
        return {
            "documents": self.documents,
            "passages": self.passages,
            "classes": {
                name: {"documents": count, "passages": chunks}
                for name, (count, chunks) in self.classes.items()
            },
            "safe_to_publish": {
                "classes": [str(item) for item in EXTERNAL_SAFE],
                "documents": round(documents, 4),
                "passages": round(passages, 4),
            },
            "undeclared": {"documents": self.undeclared, "by_bucket": self.undeclared_buckets},
        }


def license_report() -> LicenseReport:
    """Count documents and passages by licence class, and the undeclared by bucket."""
    rows = Document.objects.order_by("license_class").values_list("license_class")
    found = {
        name: (count, chunks or 0) for name, count, chunks in rows.annotate(Count("pk"), Sum("chunk_count"))
    }
    undeclared = Document.objects.filter(license_class=LicenseClass.UNKNOWN)
    return LicenseReport(
        classes={str(item): found.get(str(item), (0, 0)) for item in ALL_CLASSES},
        undeclared_buckets=_by(undeclared, "bucket", []),
    )
