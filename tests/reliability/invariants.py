"""The rules that the database and the store keep at every moment, whatever was killed or failed."""

from __future__ import annotations

import os
import time
from pathlib import Path

from django.db import connection
from django.db.models import Count, F, Q

from corpus import ingestion, storage
from corpus.audit import verifying
from corpus.models import Document, IngestionItem, IngestionRun, RightsDecision, Source, StageResult
from retrieval.graph.models import ChunkStamp, Entity, ExtractionRun, Mention
from retrieval.graph.resolution_models import MergeProposal, ResolutionAudit

_LONG_AGO = 2 * 24 * 3600


def broken() -> list[str]:
    """Name every rule about documents and files that the database breaks at this moment."""
    in_use = Q(chunks__embeddings__version__is_active=True)
    halves = Document.objects.annotate(
        passages=Count("chunks", distinct=True),
        vectors=Count("chunks__embeddings", filter=in_use, distinct=True),
    ).exclude(passages=F("chunk_count"), vectors=F("chunk_count"), chunk_count__gt=0)
    ready = Q(outcome=IngestionItem.Outcome.READY)
    rules = {
        "half documents": halves.count(),
        "documents in the making": Document.objects.exclude(state=Document.State.READY).count(),
        "ready files without a document": IngestionItem.objects.filter(ready, document=None).count(),
        "documents nobody recorded": Document.objects.exclude(
            pk__in=IngestionItem.objects.filter(ready).values("document")
        ).count(),
        "ended files with work left": IngestionItem.objects.filter(
            ~Q(outcome=IngestionItem.Outcome.WAITING), jobs__state__in=["queued", "running"]
        ).count(),
        "waiting files without work": IngestionItem.objects.filter(
            outcome=IngestionItem.Outcome.WAITING, run__state=IngestionRun.State.RUNNING
        )
        .exclude(jobs__state__in=["queued", "running"])
        .count(),
        "parsed files of ended items": StageResult.objects.exclude(
            item__outcome=IngestionItem.Outcome.WAITING
        ).count(),
        "documents without their original": sum(
            not storage.path_of(name).exists()
            for name in Document.objects.values_list("file_sha256", flat=True)
        ),
        "running runs without work": IngestionRun.objects.filter(state=IngestionRun.State.RUNNING)
        .exclude(jobs__state__in=["queued", "running"])
        .count(),
    }
    return [f"{count} {rule}" for rule, count in rules.items() if count]


def records_apart() -> list[str]:
    """Name what was done without its record, or recorded without being done."""
    merged = Entity.objects.filter(canonical_entity__isnull=False).count()
    acts = ResolutionAudit.objects.filter(act=ResolutionAudit.Act.MERGE, undone_by__isnull=True)
    declared = Document.objects.exclude(license_class="unknown")
    rules = {
        "classes nobody decided on": declared.exclude(
            pk__in=RightsDecision.objects.values("document_id")
        ).count(),
        "merges apart from their records": abs(merged - acts.count()),
        "approved pairs apart from their records": abs(
            MergeProposal.objects.filter(state=MergeProposal.State.APPROVED).count() - acts.count()
        ),
        "retracted works without an event": Source.objects.filter(
            is_retracted=True, events__isnull=True
        ).count(),
        "works with an event that are not marked": Source.objects.filter(
            is_retracted=False, events__kind="retraction"
        ).count(),
        "passages read without what was found": ChunkStamp.objects.filter(chunk__body__contains="Pyrolysis")
        .exclude(chunk__in=Mention.objects.values("chunk"))
        .count(),
        "passages counted that were not read": sum(
            max(0, run.passages_done - ChunkStamp.objects.filter(extractor=run.extractor).count())
            for run in ExtractionRun.objects.all()
        ),
        "records that are not as they were sealed": len(verifying.verify().tampers),
    }
    return [f"{count} {rule}" for rule, count in rules.items() if count]


def orphans() -> list[str]:
    """Let a day and more pass over the store, sweep it, and name what is left that nobody has a use for."""
    _age(storage.root())
    ingestion.sweep_originals()
    wanted = set(Document.objects.values_list("file_sha256", flat=True)) | set(
        IngestionItem.objects.exclude(outcome__in=["ready", "duplicate"]).values_list(
            "file_sha256", flat=True
        )
    )
    return [f"orphan {path.name}" for path in storage.older_than(-60) if path.name not in wanted]


def _age(folder: Path) -> None:
    long_ago = time.time() - _LONG_AGO
    for path in folder.glob("*/*/*"):
        os.utime(path, (long_ago, long_ago))


def expire_leases() -> None:
    """Let every lease run out, as when its worker died on another machine long ago."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE corpus_job SET lease_until = now() - interval '1 minute' WHERE state = 'running'"
        )
