"""Keeping a claim alive while its worker works, and letting go of it when the worker is gone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog
from django.conf import settings
from django.db import Error, connections

from corpus import jobs
from corpus.jobs import Claim

logger = structlog.get_logger(__name__)


@contextmanager
def kept(claim: Claim) -> Iterator[None]:
    """Renew the lease of `claim` as long as the block runs."""
    with renewed(lambda: jobs.renew(claim), job=str(claim.job), attempt=claim.attempt):
        yield


@contextmanager
def renewed(renew: Callable[[], bool], **named: object) -> Iterator[None]:
    """Call `renew` from a thread of its own as long as the block runs, until it says that the lease is lost.

    A lease is short and renewed rather than longer than the longest work: what a killed process held is free
    again within half a minute. Work that ends sooner than the first renewal costs no query. `named` says in
    the log what it is.
    """
    done = threading.Event()
    thread = threading.Thread(target=_renew, args=(renew, done, named), name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()


def _renew(renew: Callable[[], bool], done: threading.Event, named: dict[str, object]) -> None:
    try:
        while not done.wait(settings.SCI_RAG_LEASE_SECONDS / 3):
            if not _renewed(renew, named):
                logger.warning("lease.lost", **named)
                return
    finally:
        connections.close_all()


def _renewed(renew: Callable[[], bool], named: dict[str, object]) -> bool:
    try:
        return renew()
    except Error as error:
        # A database that is away for a moment: the next renewal may still be in time.
        logger.warning("lease.not_renewed", kind=type(error).__name__, **named)
        return True
    finally:
        connections.close_all()
