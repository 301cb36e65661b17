"""Make a backup: the database as of one moment, the originals it speaks of, and what proves a restore.

People go on working meanwhile. The dump and all hashes see the same snapshot; originals are only ever added,
so that those the snapshot speaks of are still there, unless their document was deleted since.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.utils import timezone

from corpus import storage, whole_files
from corpus.audit.recording import Kind, record
from corpus.backups import BackupRun
from corpus.fingerprint import State
from corpus.snapshots import one_moment
from sci_rag_site.backup import archive, programs, questions, records, state, unfinished
from sci_rag_site.backup.errors import BackupError, Unfit

# Of the database's size on disk, indexes included, a dump is a third or less.
_DUMP_SHARE: Final = 0.6
_SPARE: Final = 50_000_000

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Made:
    """What a backup holds, and what it does not though a document speaks of it."""

    path: Path
    size: int
    fingerprint: str
    documents: int
    passages: int
    tables: int
    rows: int
    originals: int
    questions: int
    is_sealed: bool
    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(slots=True)
class _Taken:
    """What is known of the snapshot."""

    corpus: State
    manifest: dict[str, Any]
    hashes: list[str] = field(default_factory=list)
    needed: set[str] = field(default_factory=set)


def make(path: Path, *, passphrase: bytes | None, by: str, say: Say, progress: archive.Progress) -> Made:
    """Write a backup to `path`, which must not exist yet; it has its name when it is whole and on disk.

    Raises `BackupError`; then nothing of it stays.
    """
    path = path.absolute()
    _require_room(path)
    if told := unfinished.told():
        raise Unfit(told)
    with records.recorded(BackupRun.Kind.BACKUP, path, by=by) as row:
        try:
            made = _make(path, row.pk, passphrase=passphrase, say=say, progress=progress)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise BackupError(f"There is no room left in {path.parent}. Nothing was kept.") from error
            raise
        row.size, row.is_sealed, row.fingerprint = made.size, made.is_sealed, made.fingerprint
        row.documents, row.passages = made.documents, made.passages
        row.originals, row.questions = made.originals, made.questions
        counts = {"documents": made.documents, "passages": made.passages, "originals": made.originals}
        record(Kind.EXPORTED, by=None, about={"what": "backup", "run": row.pk, "counts": counts})
    return made


def _require_room(path: Path) -> None:
    if path.exists():
        raise Unfit(f"{path} is there already. A backup never replaces anything: name another file.")
    if not path.parent.is_dir():
        raise Unfit(f"There is no folder {path.parent}.")
    if path.is_relative_to(Path(settings.MEDIA_ROOT)):
        raise Unfit("A backup beside the originals is lost with them: name another folder.")
    needed = int(state.database_size() * _DUMP_SHARE) + _size_of_originals() + _SPARE
    free = shutil.disk_usage(path.parent).free
    if free < needed:
        raise Unfit(
            f"The backup may need {needed / 1e6:,.0f} MB, and {path.parent} has {free / 1e6:,.0f} MB left."
        )


def _size_of_originals() -> int:
    return sum(found.st_size for found in map(_looked_at, storage.root().glob("*/*/*")) if found)


def _looked_at(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _make(path: Path, run: int, *, passphrase: bytes | None, say: Say, progress: archive.Progress) -> Made:
    header = {"sci_rag": version("sci-rag"), "made_at": timezone.now().isoformat()}
    say("Asking the stored questions ...")
    before, found = state.corpus_state(), questions.asked()
    with whole_files.written(path) as file:
        os.fchmod(file.fileno(), 0o600)
        with archive.writing(file, header, passphrase=passphrase, progress=progress) as writer:
            with one_moment():
                say("Hashing the tables ...")
                taken = _taken(run)
                if taken.corpus.fingerprint == before.fingerprint:
                    taken.manifest["questions"] = found
                say("Dumping the database ...")
                _dump(writer)
            say(f"Copying {len(taken.hashes):,} originals ...")
            missing, changed = _copy_originals(writer, taken)
            taken.manifest |= {"missing": missing, "changed": changed}
            writer.finish(taken.manifest)
        size = file.tell()
    _keep_its_name(path)
    kept = sum(one.name.startswith(archive.ORIGINALS) for one in writer.members)
    rows = taken.manifest["tables"]
    return Made(
        path, size, taken.corpus.fingerprint, taken.corpus.documents, taken.corpus.passages, len(rows),
        sum(table["rows"] for table in rows.values()), kept, len(taken.manifest["questions"]),
        passphrase is not None, tuple(missing), tuple(changed),
    )  # fmt: skip


def _taken(run: int) -> _Taken:
    """Describe the snapshot of the open transaction."""
    corpus = state.corpus_state()
    manifest = {
        "record": run,
        "fingerprint": corpus.fingerprint,
        "documents": corpus.documents,
        "passages": corpus.passages,
        "profile": state.profile(),
        "audit_head": state.audit_head(),
        # Before the dump: a sequence goes on whatever the snapshot, so that the dump's is this or later.
        "sequences": state.sequences(),
        "tables": state.rows(lambda _count: None),
        "migrations": state.migrations(),
        "extensions": state.extensions(),
        "server": state.server_version(),
        "database_size": state.database_size(),
        "questions": [],
    }
    return _Taken(corpus, manifest, state.originals(), state.documents_with_originals())


def _dump(writer: archive.Writer) -> None:
    server = state.server_version() // 10_000
    tool = programs.fitting("pg_dump", server=server)
    where, password = programs.address()
    with programs.running(
        tool, "--format=custom", "--no-owner", "--no-acl", f"--snapshot={state.exported_snapshot()}",
        "--lock-wait-timeout=10s", f"--exclude-table={unfinished.UNFINISHED}", f"--dbname={where}",
        password=password, output=subprocess.PIPE,
    ) as dump:  # fmt: skip
        writer.add_stream(archive.DATABASE, dump.source)
        if why := dump.failure():
            raise BackupError(f"pg_dump failed: {why}")


def _copy_originals(writer: archive.Writer, taken: _Taken) -> tuple[list[str], list[str]]:
    """Add the originals; return those of documents that are missing, and those that were changed."""
    missing, changed = [], []
    for sha256 in taken.hashes:
        try:
            descriptor = os.open(storage.path_of(sha256), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            if sha256 in taken.needed:
                missing.append(sha256)
            continue
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                missing.append(sha256)
                continue
            member = writer.add_file(f"{archive.ORIGINALS}{sha256}", file, found.st_size)
        if member.sha256 != sha256:
            changed.append(sha256)
    return missing, changed


def _keep_its_name(path: Path) -> None:
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
