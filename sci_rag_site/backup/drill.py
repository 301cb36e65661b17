"""Restore a backup into a server of its own and throw that away: whether it could be done if it had to be."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Final

from django.conf import settings

from corpus.backups import BackupRun, newest
from sci_rag_site.backup import archive, records
from sci_rag_site.backup.errors import BackupError, Unfit
from sci_rag_site.embedded_postgres import EmbeddedPostgres

PREFIX: Final = "drill-"
LONGEST: Final = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Drilled:
    """What a drill proved, as the restore told it, and how long it took."""

    path: Path
    told: dict[str, Any]
    seconds: float


def last_backup() -> Path:
    """Return the newest backup that is still where it was made; raise `Unfit` when there is none."""
    made = BackupRun.objects.filter(kind=BackupRun.Kind.BACKUP, state=BackupRun.State.DONE)
    for path in made.order_by("-finished_at", "-pk").values_list("path", flat=True)[:50]:
        if Path(path).is_file():
            return Path(path)
    raise Unfit("No backup that was made here is there any more. Make one: sci-rag backup FILE")


def passphrase_file() -> Path | None:
    """Return the file that opens sealed backups, where the settings name one."""
    named = settings.SCI_RAG_BACKUP_PASSPHRASE_FILE
    return Path(named) if named else None


def due() -> bool:
    """Say whether the newest backup was not tried yet."""
    made, tried = newest(BackupRun.Kind.BACKUP), newest(BackupRun.Kind.DRILL)
    if made is None or not Path(made.path).is_file():
        return False
    return tried is None or tried.path != made.path or tried.started_at < made.started_at


def drill(path: Path, *, passphrase_file: Path | None, by: str) -> Drilled:
    """Restore the backup at `path` into a server of its own and compare; raise `BackupError` if it fails."""
    path = path.absolute()
    with records.recorded(BackupRun.Kind.DRILL, path, by=by) as row:
        row.size = path.stat().st_size if path.is_file() else 0
        started = monotonic()
        told = _restored_elsewhere(path, passphrase_file)
        row.is_sealed = archive.is_sealed(path)
        row.fingerprint = told["fingerprint"]
        for name in ("documents", "passages", "originals", "questions"):
            setattr(row, name, told[name])
    return Drilled(path, told, monotonic() - started)


def _restored_elsewhere(path: Path, passphrase_file: Path | None) -> dict[str, Any]:
    _forget_old()
    place = Path(tempfile.mkdtemp(prefix=PREFIX, dir=settings.VAR_DIR))
    place.chmod(0o755)
    words = ["restore", str(path), "--json"]
    if passphrase_file is not None:
        words += ["--passphrase-file", str(passphrase_file.absolute())]
    try:
        return _told(words, place)
    finally:
        _remove(place)


def _told(words: list[str], place: Path) -> dict[str, Any]:
    """Run `sci-rag` on a site of its own below `place`; return what it printed."""
    environment = {
        **os.environ,
        "SCI_RAG_VAR_DIR": str(place),
        "DATABASE_URL": "",
        "DJANGO_SETTINGS_MODULE": "sci_rag_site.settings",
    }
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "sci_rag_site", *words],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=settings.BASE_DIR, env=environment, start_new_session=True,
    )  # fmt: skip
    try:
        output, errors = process.communicate(timeout=LONGEST)
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=60)
        raise
    if process.returncode:
        lines = errors.strip().splitlines() or [f"it ended with {process.returncode}"]
        raise BackupError(lines[-1].removeprefix("Error: "))
    told: dict[str, Any] = json.loads(output)
    return told


def _forget_old() -> None:
    """Remove what drills that were killed left behind."""
    for place in Path(settings.VAR_DIR).glob(f"{PREFIX}*"):
        if place.is_dir():
            _remove(place)


def _remove(place: Path) -> None:
    server = EmbeddedPostgres(place / "postgres")
    if not server.stop_if_unused():
        return
    if server.directory.exists():
        # Under root its data may lie where the account it ran under could enter.
        shutil.rmtree(server.home, ignore_errors=True)
    shutil.rmtree(place, ignore_errors=True)
