"""What the database holds that should not be as it is, though every row of it is allowed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.db.models.functions import Now
from django.utils import timezone

from answers.actions.answers import ABANDONED_AFTER
from answers.models import Answer
from corpus import vector_repair
from corpus.models import ChunkEmbedding, Document, EmbeddingVersion, Job
from evaluation.ground_truth.models import Evidence
from retrieval.graph import merge_queue
from retrieval.graph.actions import gc
from sci_rag_site.health.findings import Finding, counted, ok, warn

WORKER = "Start the worker, or restart it: 'sci-rag up', or 'celery -A sci_rag_site worker --beat'."
# Long enough to go back to the version before, if the new one disappoints.
KEPT_FOR = timedelta(days=30)
_BEING_WRITTEN = (Answer.State.ASKED, Answer.State.RETRIEVED, Answer.State.GENERATING)


def vectors() -> Iterator[Finding]:
    """See that vectors and codes are those of their passages, and that none are kept for nothing."""
    yield counted(
        "vector codes",
        vector_repair.astray().total,
        good="those of their passages",
        bad="{} vectors or codes are not those of their passages.",
        fix="Run 'sci-rag embed repair'.",
    )
    retired = EmbeddingVersion.objects.filter(is_active=False, retired_at__lt=timezone.now() - KEPT_FOR)
    kept = retired.filter(pk__in=ChunkEmbedding.objects.values("version")).order_by("name").first()
    if kept is None:
        yield ok("stale vectors", "none")
    else:
        count = ChunkEmbedding.objects.filter(version=kept).count()
        yield warn(
            "stale vectors",
            f"{count:,} vectors of {kept.name}, which questions have not used for a month.",
            f"Run 'sci-rag embed drop {kept.name}'.",
        )


def graph() -> Iterator[Finding]:
    """See that everything in the graph has its evidence, and how many names wait for a decision."""
    garbage = gc.preview()
    yield counted(
        "graph",
        garbage.entities + garbage.relationships + garbage.communities,
        good="everything has its evidence",
        bad="{} entities, edges or communities have no evidence any more.",
        fix="Run 'sci-rag graph gc --apply'.",
    )
    yield counted(
        "probable duplicates",
        merge_queue.waiting().count(),
        good="none wait",
        bad="{} pairs of entities that may be one wait for a person.",
        fix="Decide on them in the admin, under 'Entities that may be one'.",
    )


def attention() -> Iterator[Finding]:
    """Count what waits for a person or a worker and nobody came for."""
    yield counted(
        "quarantined documents",
        Document.objects.filter(state=Document.State.QUARANTINED).count(),
        good="none",
        bad="{} documents speak to machines and are held back.",
        fix="Read them in the admin, under Documents, and release or delete them.",
    )
    yield counted(
        "leases",
        Job.objects.filter(state=Job.State.RUNNING, lease_until__lt=Now() - timedelta(minutes=5)).count(),
        good="all held by workers that live",
        bad="{} jobs are held by workers that gave no sign of life for five minutes.",
        fix=WORKER,
    )
    late = timezone.now() - ABANDONED_AFTER - timedelta(minutes=10)
    yield counted(
        "unfinished answers",
        Answer.objects.filter(state__in=_BEING_WRITTEN, created_at__lt=late).count(),
        good="none",
        bad="{} answers are still being written by processes that must be gone.",
        fix=WORKER,
    )
    yield counted(
        "evidence",
        Evidence.objects.filter(document__isnull=True, question__retired_at__isnull=True).count(),
        good="the references of all questions are held",
        bad="{} references of questions match no document that is held.",
        fix="Take their documents in, or correct the questions under Evaluation.",
    )
