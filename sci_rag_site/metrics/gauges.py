"""Numbers that are read when somebody asks: from the database, the worker's heartbeat and the disk."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import Count, Sum
from django.db.models.functions import Now
from django.utils import timezone
from psycopg_pool import PoolTimeout

from corpus import backups, jobs
from corpus.metrics import catalogue
from corpus.metrics.catalogue import Metric
from corpus.models import Document, Job
from corpus.usage.models import ModelUse
from sci_rag_site.tasks import heartbeat_file

Reading = tuple[Metric, dict[str, str], float]


def read() -> Iterator[Reading]:
    """Yield everything; of a database that does not answer, that it does not."""
    yield from _machine()
    try:
        with transaction.atomic():
            connection.cursor().execute("SET LOCAL statement_timeout = '5s'")
            found = [*_queue(), *_corpus(), *_use()]
    except (DatabaseError, PoolTimeout):
        yield catalogue.DATABASE_UP, {}, 0
        return
    yield catalogue.DATABASE_UP, {}, 1
    yield from found


def _machine() -> Iterator[Reading]:
    beat = heartbeat_file()
    if beat.exists():
        yield catalogue.WORKER_SILENT, {}, max(0.0, time.time() - beat.stat().st_mtime)
    yield catalogue.DISK_FREE, {}, shutil.disk_usage(Path(settings.VAR_DIR)).free


def _queue() -> Iterator[Reading]:
    rows = Job.objects.filter(state__in=jobs.OPEN_STATES)
    found = rows.order_by().values_list("kind", "state").annotate(Count("pk"))
    counted = {(kind, state): 0 for kind in Job.Kind.values for state in jobs.OPEN_STATES}
    counted |= {(str(kind), jobs.State(state)): count for kind, state, count in found}
    for (kind, state), count in counted.items():
        yield catalogue.JOBS, {"kind": kind, "state": state}, count
    yield catalogue.OLDEST_JOB, {}, jobs.backlog().oldest_seconds
    held = rows.filter(state=Job.State.RUNNING)
    late = held.filter(lease_until__lt=Now()).count()
    yield catalogue.LEASES, {"state": "held"}, held.count() - late
    yield catalogue.LEASES, {"state": "expired"}, late


def _corpus() -> Iterator[Reading]:
    found = Document.objects.order_by().values_list("state").annotate(Count("pk"))
    counted = dict.fromkeys(Document.State.values, 0) | {str(state): count for state, count in found}
    for state, count in counted.items():
        yield catalogue.DOCUMENTS, {"state": state}, count
    backup = backups.newest(backups.BackupRun.Kind.BACKUP)
    if backup is not None and backup.finished_at is not None:
        yield catalogue.BACKUP_AGE, {}, (timezone.now() - backup.finished_at).total_seconds()


def _use() -> Iterator[Reading]:
    rows = ModelUse.objects.order_by().values_list("purpose")
    for purpose, calls, failures, prompts, replies in rows.annotate(
        Sum("calls"), Sum("failures"), Sum("prompt_tokens"), Sum("completion_tokens")
    ):
        yield catalogue.MODEL_CALLS, {"purpose": purpose}, calls
        yield catalogue.MODEL_FAILURES, {"purpose": purpose}, failures
        yield catalogue.MODEL_TOKENS, {"purpose": purpose, "direction": "prompt"}, prompts
        yield catalogue.MODEL_TOKENS, {"purpose": purpose, "direction": "reply"}, replies
