"""One file on its way into the corpus, up to the transaction that stores it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from django.db import InterfaceError, OperationalError, ProgrammingError

from corpus import connections, held, reuse, storage
from corpus.actions import documents, embargoes, license_suggestions
from corpus.actions.documents import AlreadyHeld
from corpus.bibliography import works
from corpus.chunking import ChunkingLimits
from corpus.egress import classes_of
from corpus.gateways.embedding import Embedder, TextWithheld, Vectors
from corpus.manifest import Entry
from corpus.models import Document, EmbeddingVersion
from corpus.parsing.registry import ParseLimits
from corpus.preparation import Prepared, prepare
from corpus.reports import Outcome, Report
from corpus.usage import accounts
from corpus.vectors import VersionSwitched, active_embedder, ensure_version

if TYPE_CHECKING:
    from django.contrib.auth.models import User

DEFAULT_BUCKET = "local"
WITHHELD = (
    "Its licence class may not go to the provider of vectors (domain/egress.yaml), so it is found by its "
    "words alone."
)
QUARANTINED = "It speaks to machines, so it is held back until a librarian has read it."


@dataclass(frozen=True, slots=True)
class Options:
    """How files are taken in. The bucket is for those whose manifest entry names none."""

    chunking: ChunkingLimits
    limits: ParseLimits
    bucket: str = ""


def examine(entry: Entry, options: Options) -> Prepared | Document:
    """Return the document that holds this file or text already, or what would be stored.

    Reads the database, writes nothing, and holds no connection while the parser runs. Raises
    `ParseFailure` for a file that cannot be taken in.
    """
    file_sha256 = _hash(entry.path, options.limits)
    if file_sha256:
        same = held.by_file(file_sha256)
        if same is not None:
            return same
    connections.release()
    prepared = prepare(entry, file_sha256=file_sha256, chunking=options.chunking, limits=options.limits)
    same = held.by_text(prepared.content_sha256)
    return prepared if same is None else same


def _hash(path: Path, limits: ParseLimits) -> str:
    """Return the file's hash, or nothing for one that the parser will refuse with its reason."""
    try:
        return storage.hash_file(path) if path.stat().st_size <= limits.max_bytes else ""
    except (OSError, ValueError):
        return ""


@dataclass(slots=True)
class Intake:
    """Takes files in, each in a transaction of its own, with the vectors that questions use by then."""

    options: Options
    embedder: Embedder
    version: EmbeddingVersion
    by: User | None = None

    def take(self, entry: Entry) -> Report:
        """Store the file's document unless it is held already; return what happened.

        Raises `ParseFailure`, `EmbeddingError`, `OSError` and database errors: nothing is stored then,
        save perhaps the original, which the sweep removes.
        """
        found = examine(entry, self.options)
        if isinstance(found, Document):
            return held_already(entry, found)
        storage.store(entry.path, found.file_sha256)
        while True:
            try:
                return self.keep(found, self.embed(found))
            except VersionSwitched:
                self.follow()

    def follow(self) -> None:
        """Go on with the version that is the active one now: it was found to be another one."""
        self.embedder = active_embedder()
        self.version = ensure_version(self.embedder)

    def embed(self, prepared: Prepared) -> Vectors | None:
        """Return the vectors of the passages, None where there are none. Holds no connection meanwhile.

        There are none either where the document's licence keeps it from the embedder: it is found by words.
        """
        if not prepared.passages:
            return None
        known = reuse.held_vectors(
            passages=prepared.passages, doi=prepared.metadata.doi, version=self.version
        )
        connections.release()
        try:
            with accounts.charged_to(self.by, collection=bucket_of(prepared.entry, self.options)):
                return reuse.embed(
                    passages=prepared.passages,
                    held=known,
                    embedder=self.embedder,
                    carries=classes_of([documents.class_at_intake(prepared)]),
                )
        except TextWithheld:
            return None

    def keep(self, prepared: Prepared, vectors: Vectors | None) -> Report:
        """Store the document, whose original is kept already, in one transaction or in the caller's.

        Raises `VersionSwitched` when the vectors are of a version that is no longer the active one.
        """
        entry = prepared.entry
        try:
            document = documents.store(
                prepared=prepared,
                vectors_of_passages=vectors,
                version=self.version,
                bucket=bucket_of(entry, self.options),
                by=self.by,
            )
        except AlreadyHeld as first:
            return held_already(entry, first.document)
        return stored(entry, prepared, document, is_withheld=vectors is None)


def held_already(entry: Entry, document: Document) -> Report:
    """Report a file whose document is held, after comparing what is declared about it."""
    code, sentence = documents.reconcile_license(
        document=document,
        declared=entry.described.license_class,
        signal=entry.described.license_source,
    )
    if entry.described.license_class is None and entry.described.license_source:
        license_suggestions.suggest(document, signals=[entry.described.license_source])
    if entry.described.embargo_until:
        until = date.fromisoformat(entry.described.embargo_until)
        embargoes.declare(
            document=document, until=until, process="manifest", signal=entry.described.license_source
        )
    works.hold_named(document, entry.described.identifier)
    return duplicate(entry, document, code=code, sentence=sentence)


def bucket_of(entry: Entry, options: Options) -> str:
    """Return the bucket of a file: its own, else the request's, else the default."""
    return entry.described.bucket or options.bucket or DEFAULT_BUCKET


def stored(
    entry: Entry, prepared: Prepared, document: Document | None, *, is_withheld: bool = False
) -> Report:
    """Report a document that was stored, or would be; `is_withheld`: its text went to no embedder."""
    identifier = None if document is None else document.pk
    if prepared.needs_ocr:
        detail = "No page has text that can be read; it needs OCR before it can be searched."
        return Report(entry.name, Outcome.NEEDS_OCR, "no_text", detail, identifier)
    count = len(prepared.passages)
    is_held = (
        documents.is_suspicious(prepared)
        if document is None
        else document.state == Document.State.QUARANTINED
    )
    said = [text for text, holds in ((WITHHELD, is_withheld), (QUARANTINED, is_held)) if holds]
    reason = "quarantined" if is_held else "withheld" if is_withheld else ""
    detail = " ".join([f"{count} passage{'' if count == 1 else 's'}.", *said, *prepared.parsed.warnings])
    return Report(entry.name, Outcome.READY, reason, detail, identifier, passages=count)


def duplicate(entry: Entry, document: Document, *, code: str = "", sentence: str = "") -> Report:
    """Report a file whose text is in the corpus."""
    what = "file" if document.state == Document.State.NEEDS_OCR else "text"
    detail = f"The same {what} is held as “{document.title}”. {sentence}".strip()
    if document.state == Document.State.NEEDS_OCR:
        detail = f"{detail} It still needs OCR."
    return Report(entry.name, Outcome.DUPLICATE, code or "already_held", detail, document.pk)


# Errors of the database that end a run, since the next file would meet them too: it is gone, or its
# tables are not those of this version.
DATABASE_UNUSABLE = (OperationalError, InterfaceError, ProgrammingError)
