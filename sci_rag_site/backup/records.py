"""The record of each backup, restore and drill."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import structlog
from django.utils import timezone

from corpus.backups import BackupRun

logger = structlog.get_logger(__name__)


def operator() -> str:
    """Return who runs this command, as the machine knows them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"account {os.geteuid()}"


@contextmanager
def recorded(kind: BackupRun.Kind, path: Path, *, by: str) -> Iterator[BackupRun]:
    """Keep a record while the block runs, and how it ended."""
    row = BackupRun.objects.create(kind=kind, path=str(path), by_name=by[:150])
    try:
        yield row
    except BaseException as error:
        said = str(error) if isinstance(error, Exception) else "Stopped."
        end(row, state=BackupRun.State.FAILED, reason=(said or type(error).__name__)[:500])
        raise
    end(row, state=BackupRun.State.DONE)


def end(row: BackupRun, **values: Any) -> None:
    """Write how it ended."""
    for name, value in values.items():
        setattr(row, name, value)
    row.finished_at = timezone.now()
    row.save()
    logger.info("backup.ended", kind=row.kind, state=row.state, run=row.pk, seconds=row.seconds)
