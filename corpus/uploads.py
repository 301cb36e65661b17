"""Files that people send: what is known of each at once, and the run that takes the good ones in."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core import signing
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.http import HttpRequest

from corpus import ceilings, storage
from corpus.actions.runs import RunCancelled, is_for_workers
from corpus.enqueueing import enqueue_files, plan_run
from corpus.ingestion import DISK_FULL
from corpus.manifest import Described, Entry
from corpus.models import Document, IngestionRun
from corpus.parsing import media_types
from corpus.parsing.blocks import ParseFailure
from corpus.reports import Outcome
from corpus.scope import RetrievalScope

if TYPE_CHECKING:
    from django.contrib.auth.models import User

PERMISSION = "corpus.add_ingestionrun"
ORIGIN = "upload"

_SALT = "corpus.uploads"
# As long as the sweep leaves an original alone that belongs to nothing.
_KEPT_SECONDS = 12 * 3600


class Verdict(StrEnum):
    """What is known of a file right after it was sent."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Sent:
    """A file on disk, under a name of ours, with the name its sender gave it."""

    path: Path
    name: str


@dataclass(frozen=True, slots=True)
class Line:
    """One file of an upload and what became of it. `document` is set when its sender may see it."""

    name: str
    verdict: Verdict
    code: str = ""
    detail: str = ""
    document: Document | None = None


def sent(request: HttpRequest, field: str = "files") -> tuple[list[Sent], list[Line]]:
    """Return the files of a request, and a refusal for each one that was turned away on its way.

    Raises `storage.NoRoom` when the disk was full before all of it was there.
    """
    files = [Sent(_path(file), file.name or "") for file in request.FILES.getlist(field)]
    away = getattr(request, "turned_away", [])
    if any(item.code == DISK_FULL for item in away):
        raise storage.NoRoom(errno.ENOSPC, away[0].detail)
    return files, [Line(item.name, Verdict.REFUSED, item.code, item.detail) for item in away]


def _path(file: UploadedFile[bytes]) -> Path:
    if not isinstance(file, TemporaryUploadedFile):
        raise TypeError("the site's upload handler keeps every file on disk")
    return Path(file.temporary_file_path())


def judge(file: Sent, *, by: User) -> Line:
    """Say what can be known of a file before it is parsed: kind, content, and whether it is held."""
    try:
        _check(file)
    except ParseFailure as failure:
        return Line(file.name, Verdict.REFUSED, failure.code, str(failure))
    held = Document.objects.filter(file_sha256=storage.hash_file(file.path)).order_by("ingested_at", "id")
    document = held.first()
    if document is None:
        return Line(file.name, Verdict.ACCEPTED)
    if not ceilings.of(by).covers(document.license_class, document.bucket):
        return Line(file.name, Verdict.DUPLICATE, "already_held", "The same file is in the corpus.")
    readable = Document.objects.within(ceilings.effective_scope(by, RetrievalScope()))
    shown = readable.filter(pk=document.pk).first()
    detail = f"The same file is in the corpus as “{document.title}”."
    return Line(file.name, Verdict.DUPLICATE, "already_held", detail, shown)


def _check(file: Sent) -> None:
    """Raise `ParseFailure` for a file that no parser would read, by name, size and first bytes."""
    declared = media_types.of_name(PurePath(file.name).name)
    if file.path.stat().st_size == 0:
        raise ParseFailure("empty_file", "The file has no content (0 bytes).")
    media_types.detect(file.path, declared=declared)


def take(
    files: Sequence[Sent], *, described: Described, by: User, run: IngestionRun | None = None
) -> tuple[IngestionRun | None, list[Line]]:
    """Hand the good files to the workers, in `run` or a new one; return the run and a line for each file.

    A file that is held already joins the run only when something is declared about it, which the worker
    then compares with what is held. Raises `EmbeddingError` when nothing can be taken in at present, and
    `storage.NoRoom`.
    """
    lines = [judge(file, by=by) for file in files]
    wanted = [
        (index, Entry(file.path, file.name, described))
        for index, (file, line) in enumerate(zip(files, lines, strict=True))
        if line.verdict is Verdict.ACCEPTED
        or (line.verdict is Verdict.DUPLICATE and described.license_class is not None)
    ]
    if not wanted:
        return run, lines
    run = run or plan_run(origin=ORIGIN, by=by)
    try:
        items = enqueue_files(run=run, files=[entry for _, entry in wanted])
    except RunCancelled:
        for index, _ in wanted:
            lines[index] = replace(
                lines[index],
                verdict=Verdict.REFUSED,
                code="run_cancelled",
                detail="The run was cancelled. Send the file again to begin another.",
            )
        return run, lines
    for (index, _), item in zip(wanted, items, strict=True):
        if item.outcome == Outcome.FAILED:
            lines[index] = Line(item.path, Verdict.REFUSED, item.reason, item.detail)
    return run, lines


def take_entries(entries: Sequence[Entry], *, by: User) -> IngestionRun:
    """Hand the entries of a manifest to the workers as one run."""
    run = plan_run(origin="upload with a manifest", by=by)
    enqueue_files(run=run, files=entries)
    return run


def own_run(identifier: str, *, by: User) -> IngestionRun | None:
    """Return the person's own upload with this id, to which further files may be added."""
    try:
        run = IngestionRun.objects.filter(pk=UUID(identifier), started_by=by, origin=ORIGIN).first()
    except ValueError:
        return None
    return run if run is not None and is_for_workers(run) else None


def keep(file: Sent, *, by: User) -> str:
    """Keep a file until its manifest is right; return the token that fetches it for the same person."""
    sha256 = storage.hash_file(file.path)
    storage.store(file.path, sha256)
    return signing.dumps({"file": sha256, "name": file.name, "by": by.pk}, salt=_SALT, compress=True)


def kept(tokens: Sequence[str], *, by: User) -> dict[str, tuple[str, Sent]]:
    """Return the kept files by name, each with its token. What is forged, old or gone is left out."""
    found = {}
    for token in tokens:
        try:
            values: dict[str, Any] = signing.loads(token, salt=_SALT, max_age=_KEPT_SECONDS)
        except signing.BadSignature:
            continue
        path = storage.path_of(values["file"])
        if values["by"] == by.pk and path.is_file():
            found[values["name"]] = (token, Sent(path, values["name"]))
    return found
