"""What keeps the corpus safe: backups and drills, originals on disk, and a clock that agrees."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta

from django.db import connection
from django.utils import timezone

from corpus import storage
from corpus.backups import BackupRun, newest
from corpus.models import Document
from sci_rag_site.health.findings import Finding, fail, ok, warn

BACKUP_AGE = timedelta(days=8)
DRILL_AGE = timedelta(days=35)
# Leases and embargoes go by the database's clock, logs and sessions by this machine's.
CLOCKS_APART = 5.0
CLOCKS_WRONG = 60.0
Kind = BackupRun.Kind


def backup() -> Iterator[Finding]:
    """See when everything was last kept in one file, and when that was last tried."""
    made, tried = newest(Kind.BACKUP), newest(Kind.DRILL)
    if made is None and not Document.objects.exists():
        yield ok("backup", "none yet: nothing was ingested")
        yield ok("backup drill", "none yet: nothing was ingested")
        return
    yield _made(made)
    yield _tried(tried)


def _made(made: BackupRun | None) -> Finding:
    fix = "Run 'sci-rag backup FILE', better every night."
    if made is None or made.finished_at is None:
        return warn("backup", "None was ever made here.", fix)
    age = timezone.now() - made.finished_at
    if age > BACKUP_AGE:
        return warn("backup", f"The newest is {age.days} days old.", fix)
    return ok("backup", f"{_ago(age)}, {made.size / 1e6:,.0f} MB")


def _tried(tried: BackupRun | None) -> Finding:
    fix = "Run 'sci-rag backup drill', or set SCI_RAG_DRILL_WEEKLY."
    last = BackupRun.objects.filter(kind=Kind.DRILL).order_by("-started_at", "-pk").first()
    if last is not None and last.state == BackupRun.State.FAILED:
        return fail("backup drill", f"The last one failed: {last.reason}", fix)
    if tried is None or tried.finished_at is None:
        return warn("backup drill", "No backup was ever tried here.", fix)
    age = timezone.now() - tried.finished_at
    if age > DRILL_AGE:
        return warn("backup drill", f"The last one was {age.days} days ago.", fix)
    return ok("backup drill", f"{_ago(age)}, everything equal")


def _ago(age: timedelta) -> str:
    hours = age.total_seconds() / 3600
    return f"{hours:.0f} hours ago" if hours < 48 else f"{age.days} days ago"


def originals() -> Iterator[Finding]:
    """See that the file of every document is there; what is in it is compared by the clock."""
    names = Document.objects.exclude(file_sha256="").values_list("file_sha256", flat=True)
    missing = sum(not storage.path_of(name).is_file() for name in names.iterator(2000))
    if missing:
        yield fail(
            "originals",
            f"The files of {missing:,} documents are not on disk.",
            f"Put them back from a backup into {storage.root()}, then run 'sci-rag corpus verify'.",
        )
    else:
        yield ok("originals", "all on disk")


def clock() -> Iterator[Finding]:
    """Compare this machine's clock with the database's, and with what was written before."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float")
        apart = time.time() - cursor.fetchone()[0]
    fix = "Set the clocks of both machines, with 'timedatectl set-ntp true' for instance."
    said = (
        f"This machine's clock is {abs(apart):,.0f} s {'ahead of' if apart > 0 else 'behind'} the database's."
    )
    if abs(apart) > CLOCKS_WRONG:
        yield fail("clock", said, fix)
    elif abs(apart) > CLOCKS_APART:
        yield warn("clock", said, fix)
    else:
        yield ok("clock", "agrees with the database's")
