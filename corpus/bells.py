"""Telling the workers that something waits. A bell may be lost or ring twice: the jobs are rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from corpus.jobs import Kind

logger = structlog.get_logger(__name__)

WORK = "corpus.work"
CHECK_SOURCES = "corpus.check_sources"
DELIVER = "corpus.deliver_webhooks"
# A worker that is woken goes on by itself, so a few bells wake as many workers as there will be.
AT_ONCE = 8
QUEUES = {Kind.PARSE: "parse", Kind.EMBED: "embed", Kind.SETTLE: "embed"}
PAUSE_SECONDS = 1.0
_rung_at: dict[Kind, float] = {}
# Soft and hard, in seconds, by queue. A parser has its own limit of minutes; embedding a book takes its
# time, and finishing a large run may build an index.
_LIMITS = {"parse": (600, 660), "embed": (7200, 7320)}


def are_due(kind: Kind) -> bool:
    """Whether this process has not rung for `kind` for a moment: a woken worker goes on by itself."""
    now = time.monotonic()
    if now - _rung_at.get(kind, -PAUSE_SECONDS) < PAUSE_SECONDS:
        return False
    _rung_at[kind] = now
    return True


def ring_on_commit(kind: Kind, jobs: Sequence[UUID]) -> None:
    """Wake workers for `jobs` once the transaction that queued them has committed."""
    if jobs:
        transaction.on_commit(partial(ring, kind, jobs))


def ring(kind: Kind, jobs: Sequence[UUID]) -> bool:
    """Wake workers for `jobs` of `kind`; False when the broker is down, and the sweep rings later."""
    soft, hard = _LIMITS[QUEUES[kind]]
    return all(
        _sent(WORK, str(job), kind=kind.value, queue=QUEUES[kind], soft_time_limit=soft, time_limit=hard)
        for job in jobs[:AT_ONCE]
    )


def ring_for_run(task: str, run: UUID, *, kind: str) -> bool:
    """Wake a worker to carry `run` on by `task`; False when the broker is down, and the clock follows."""
    return _sent(task, str(run), kind=kind)


def call_for_checks() -> bool:
    """Wake a worker for works whose check was asked for; False when the broker is down: the clock follows."""
    return _sent(CHECK_SOURCES, kind="check")


def call_for_deliveries() -> bool:
    """Wake a worker for messages to webhooks; False when the broker is down: the clock follows."""
    return _sent(DELIVER, kind="webhook")


def _sent(task: str, *arguments: str, kind: str, queue: str = "light", **limits: int) -> bool:
    try:
        # The apps below the Celery application know it by its setting only.
        application: Any = import_string(settings.CELERY_APP)
        application.send_task(task, list(arguments), queue=queue, retry=False, **limits)
    except Exception as error:  # noqa: BLE001 - each broker's library has errors of its own
        logger.warning("bell.broker_down", kind=kind, error=type(error).__name__)
        return False
    return True
