"""An export as a whole: of one moment, complete or not there at all, with a manifest that describes it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from django.db.models import Count, Sum
from django.utils import timezone

from corpus.audit.recording import Kind, record
from corpus.export import files, rows
from corpus.export.files import Form
from corpus.fingerprint import fingerprint
from corpus.models import Document, DocumentCitation, EmbeddingVersion
from corpus.rights import ALL_CLASSES, EXTERNAL_SAFE
from corpus.scope import RetrievalScope
from corpus.snapshots import one_moment

MANIFEST = "manifest.json"


class ExportRefused(ValueError):
    """An export that may not or cannot be written. The message says why."""


def export(*, target: Path, scope: RetrievalScope, form: Form) -> dict[str, Any]:
    """Write what `scope` allows into the new folder `target`; return its manifest.

    The folder appears under its name when it is complete and on disk. Raises `ExportRefused` for a scope
    that allows nothing and for a folder that holds something, and `FormUnavailable`.
    """
    if scope.denied:
        raise ExportRefused("The scope allows nothing. Nothing was exported.")
    files.require(form)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ExportRefused(f"{target} is not empty. Name a new folder.")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.part-"))
    try:
        manifest = _write(part, scope, form)
        record(Kind.EXPORTED, by=None, about={"what": "corpus", "counts": manifest["counts"]})
        _on_disk(part)
        part.rename(target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return manifest


def _write(folder: Path, scope: RetrievalScope, form: Form) -> dict[str, Any]:
    with one_moment():
        within = rows.held(scope)
        written = {
            name: files.write(form, name, make(scope, within), folder)
            for name, make in (
                ("documents", rows.documents),
                ("passages", rows.passages),
                ("citations", rows.citations),
            )
        }
        manifest = _manifest(scope, form) | {
            "counts": {name: count for name, (_, count) in written.items()},
            "files": {path.name: _described(path) for path, _ in written.values()},
        }
    (folder / MANIFEST).write_text(
        json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
    )
    return manifest


def described(scope: RetrievalScope) -> dict[str, Any]:
    """Return what an export of what `scope` allows would say of itself, with how much there is in it."""
    with one_moment():
        documents = Document.objects.within(scope).order_by()
        counts = {
            "documents": documents.count(),
            "passages": documents.aggregate(sum=Sum("chunk_count", default=0))["sum"],
            "citations": DocumentCitation.objects.filter(citing__in=documents.values("pk")).count(),
        }
        return _about(scope) | {"counts": counts}


def _manifest(scope: RetrievalScope, form: Form) -> dict[str, Any]:
    return {"exported_at": timezone.now().isoformat(timespec="seconds"), "format": str(form)} | _about(scope)


def _about(scope: RetrievalScope) -> dict[str, Any]:
    found = Document.objects.within(scope).order_by("license_class").values_list("license_class")
    classes = dict(found.annotate(Count("pk")))
    active = EmbeddingVersion.objects.filter(is_active=True).first()
    return {
        "program": f"sci-rag {version('sci-rag')}",
        "fingerprint": fingerprint(scope),
        "embedding_version": "" if active is None else active.name,
        "scope": scope.as_dict(),
        "licenses": {
            "documents": {str(item): classes.get(str(item), 0) for item in ALL_CLASSES},
            "safe_to_publish": set(classes) <= {str(item) for item in EXTERNAL_SAFE},
        },
    }


def _described(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"sha256": digest, "bytes": path.stat().st_size}


def _on_disk(folder: Path) -> None:
    for path in (*folder.iterdir(), folder):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
