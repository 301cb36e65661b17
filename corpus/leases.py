"""Keeping a claim alive while its worker works, and letting go of it when the worker is gone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from django.conf import settings
from django.db import Error, connections

from corpus import jobs
from corpus.jobs import Claim

logger = structlog.get_logger(__name__)


@contextmanager
def kept(claim: Claim) -> Iterator[None]:
    """Renew the lease of `claim` from a thread of its own as long as the block runs.

    A lease is short and renewed rather than longer than the longest document: what a killed worker held
    is free again within half a minute. A job that ends sooner than the first renewal costs no query.
    """
    done = threading.Event()
    thread = threading.Thread(target=_renew, args=(claim, done), name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()


def _renew(claim: Claim, done: threading.Event) -> None:
    try:
        while not done.wait(settings.SCI_RAG_LEASE_SECONDS / 3):
            if not _renewed(claim):
                logger.warning("job.lease_lost", job=str(claim.job), attempt=claim.attempt)
                return
    finally:
        connections.close_all()


def _renewed(claim: Claim) -> bool:
    try:
        return jobs.renew(claim)
    except Error as error:
        # A database that is away for a moment: the next renewal may still be in time.
        logger.warning("job.lease_not_renewed", job=str(claim.job), kind=type(error).__name__)
        return True
    finally:
        connections.close_all()
