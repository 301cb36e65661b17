"""Reading the stored original of a document again, with the usual parser or with another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction

from corpus import bells, connections, jobs, reuse, storage, vectors
from corpus.actions import reparse as action
from corpus.actions import runs
from corpus.actions.documents import AlreadyHeld
from corpus.actions.reparse import ReadMeanwhile
from corpus.egress import classes_of
from corpus.gateways.embedding import TextWithheld, Vectors, embedder_of
from corpus.ingestion import default_options, guarded, record
from corpus.intake import Options
from corpus.jobs import Kind
from corpus.manifest import Described, Entry
from corpus.models import Document, EmbeddingVersion, IngestionItem, IngestionRun
from corpus.parsing.blocks import ParseFailure
from corpus.preparation import Prepared, prepare
from corpus.reports import Outcome, Report
from corpus.rights import parse_class
from corpus.usage import accounts
from corpus.vectors import active_embedder, active_version, ensure_version

if TYPE_CHECKING:
    from django.contrib.auth.models import User

ORIGIN = "Read again"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reading found, with its vectors, before it takes the place of the document's text."""

    document_id: UUID
    title: str
    read_from: str
    parser_before: str
    prepared: Prepared
    version: EmbeddingVersion
    # None where the licence keeps the text from the embedder.
    vectors: Vectors | None


def entry_of(document: Document, *, parser: str = "") -> Entry:
    """Return the document's original as a file to read, described as the document is now."""
    described = Described(
        title=document.title,
        authors=tuple(document.authors),
        year=document.year,
        doi=document.doi,
        journal=document.journal,
        url=document.url,
        license_class=parse_class(document.license_class),
        license_source=document.license_source,
        bucket=document.bucket,
        version=document.version_label,
        language=document.language,
        parser=parser,
        vouched_for=str(document.extra.get("vouched_for", "")),
    )
    path = storage.path_of(document.file_sha256)
    return Entry(path, document.file_name, described, file_name=document.file_name)


def reparse(
    *, document_id: UUID, parser: str = "", options: Options | None = None, by: User | None = None
) -> Report:
    """Read the document's original again, give the document what was found, and record it as a run.

    What cannot be read, or would be the text of another document, is a report with its reason; the
    document stays as it is then. Raises `Document.DoesNotExist`.
    """
    started = monotonic()
    chosen = options or default_options()
    document = Document.objects.get(pk=document_id)
    run, (item,) = runs.start(
        origin=ORIGIN, names=[document.file_name], parameters={"parser": parser, "again": True}, by=by
    )
    state = IngestionRun.State.FAILED
    try:
        report = guarded(entry_of(document), lambda _: _read_and_keep(document_id, parser, chosen, by))
        report = _about(report, document_id, seconds=monotonic() - started)
        record(item, report)
        state = IngestionRun.State.FINISHED
    finally:
        runs.finish(run, state)
    return report


def rehearse(*, document_id: UUID, parser: str = "", options: Options | None = None) -> Report:
    """Say what reading the document's original again would find; write and embed nothing."""
    document = Document.objects.get(pk=document_id)
    found = guarded(entry_of(document), lambda _: look(document, parser, options or default_options()))
    if isinstance(found, Report):
        return _about(found, document_id)
    detail = f"{_passages(len(found.passages))}, read by {found.parsed.parser} instead of {document.parser}."
    return Report(document.file_name, Outcome.READY, "", detail, document_id, len(found.passages))


def enqueue(*, document_ids: Sequence[UUID], parser: str, by: User | None) -> IngestionRun:
    """Hand the documents to the workers to be read again, as one run."""
    options = default_options()
    run = runs.open_for_workers(
        origin=f"{ORIGIN} with {parser}" if parser else ORIGIN,
        parameters={"again": True, "parser": parser, "bucket": "", "chunking": asdict(options.chunking)},
        by=by,
    )
    found = Document.objects.filter(pk__in=document_ids).order_by("title", "id")
    items = [
        IngestionItem(run=run, path=document.file_name, document=document, file_sha256=document.file_sha256)
        for document in found
    ]
    with transaction.atomic():
        IngestionItem.objects.bulk_create(items, batch_size=500)
        bells.ring_on_commit(Kind.PARSE, jobs.queue_parsing(run=run.pk, items=[item.pk for item in items]))
        runs.settle_when_done(run)
    return run


def is_asked_by(run: IngestionRun) -> bool:
    """Whether a run reads documents again instead of taking files in."""
    return bool(run.parameters.get("again"))


def _read_and_keep(document_id: UUID, parser: str, options: Options, by: User | None) -> Report:
    reading = read(document_id=document_id, parser=parser, options=options)
    while True:
        try:
            return keep(reading, by=by)
        except vectors.VersionSwitched:
            reading = _embedded(Document.objects.get(pk=document_id), reading.prepared)


def read(*, document_id: UUID | None, parser: str, options: Options) -> Reading:
    """Read the original and embed what is new in it. Holds no connection meanwhile.

    Raises `ParseFailure` when there is nothing that could take the place of the document's text.
    """
    document = Document.objects.filter(pk=document_id).first() if document_id is not None else None
    if document is None:
        raise ParseFailure("document_deleted", "The document was deleted meanwhile.")
    return _embedded(document, look(document, parser, options))


def look(document: Document, parser: str, options: Options) -> Prepared:
    """Parse and cut the original; raise `ParseFailure` unless it could take the text's place."""
    entry = entry_of(document, parser=parser)
    connections.release()
    try:
        is_original = storage.hash_file(entry.path) == document.file_sha256
    except FileNotFoundError:
        raise ParseFailure("original_missing", "The original file is not there any more.") from None
    if not is_original:
        raise ParseFailure("original_changed", "The original file is not the one that was taken in.")
    prepared = prepare(
        entry, file_sha256=document.file_sha256, chunking=options.chunking, limits=options.limits
    )
    if prepared.needs_ocr:
        raise ParseFailure("no_text", f"{prepared.parsed.parser} finds no text that can be read.")
    same = Document.objects.filter(content_sha256=prepared.content_sha256).exclude(pk=document.pk).first()
    if same is not None:
        raise _same_text(same)
    return prepared


def _embedded(document: Document, prepared: Prepared) -> Reading:
    version = active_version() or ensure_version(active_embedder())
    held = reuse.vectors_of_document(document_id=document.pk, version=version)
    connections.release()
    carries = classes_of([document.license_class])
    try:
        with accounts.charged_to(collection=document.bucket):
            made = reuse.embed(
                passages=prepared.passages, held=held, embedder=embedder_of(version.name), carries=carries
            )
    except TextWithheld:
        made = None
    return Reading(
        document_id=document.pk,
        title=document.title,
        read_from=document.content_sha256,
        parser_before=document.parser,
        prepared=prepared,
        version=version,
        vectors=made,
    )


def keep(reading: Reading, *, by: User | None) -> Report:
    """Give the document what was read, in one transaction; return the report.

    Raises `VersionSwitched`, and `ParseFailure` when the document or its twin changed meanwhile.
    """
    try:
        replaced = action.replace_text(
            document_id=reading.document_id,
            read_from=reading.read_from,
            prepared=reading.prepared,
            vectors_of_passages=reading.vectors,
            version=reading.version,
            by=by,
        )
    except AlreadyHeld as twin:
        raise _same_text(twin.document) from None
    except (ReadMeanwhile, Document.DoesNotExist):
        raise ParseFailure("changed_meanwhile", "Somebody else changed the document meanwhile.") from None
    parsed = reading.prepared.parsed
    before = "" if parsed.parser == reading.parser_before else f" instead of {reading.parser_before}"
    counts = f"{_passages(replaced.passages)}, {replaced.unchanged} of them unchanged"
    detail = " ".join([f"{counts}, read by {parsed.parser}{before}.", *parsed.warnings])
    return Report(
        reading.prepared.entry.name, Outcome.READY, "", detail, reading.document_id, replaced.passages
    )


def _same_text(document: Document) -> ParseFailure:
    return ParseFailure("already_held", f"Its text would be that of “{document.title}”, which is held.")


def _about(report: Report, document_id: UUID, *, seconds: float = 0.0) -> Report:
    return replace(report, document=document_id, seconds=round(seconds, 3))


def _passages(count: int) -> str:
    return f"{count} passage{'' if count == 1 else 's'}"
