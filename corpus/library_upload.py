"""A library that came through a form: what importing it would do, line by line, and the run that does it."""

from __future__ import annotations

import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import gettext as _

from corpus import ceilings, uploads
from corpus.bibliography import works
from corpus.bibliography.identifiers import Identifier
from corpus.bibliography.importing import enqueue_library
from corpus.bibliography.planning import Plan, plan
from corpus.bibliography.reading import read
from corpus.bibliography.records import Code, Problem, Record
from corpus.bibliography.unpacking import (
    LIBRARY_EXTENSIONS,
    RefusedPart,
    Unpacked,
    Unusable,
    is_archive,
    unpack,
)
from corpus.inputs import Refusal
from corpus.manifest import Entry
from corpus.models import Document, IngestionRun
from corpus.scope import RetrievalScope
from corpus.uploads import Sent, Verdict

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# What a request may take the time to read; longer libraries are for the command line.
MOST_LIBRARY_BYTES = 20_000_000
# All files of an archive together, in files of the largest size.
_FILES_IN_ALL = 5
_MOST_ROWS = 300
_MOST_PROBLEMS = 100


_FORMATS = {
    "bibtex": "BibTeX",
    "ris": "RIS",
    "csl-json": "CSL-JSON",
    "zotero-json": "Zotero JSON",
    "zotero-csv": "Zotero CSV",
    "zotero-rdf": "Zotero RDF",
}


class State(StrEnum):
    """What is known of a file that a record names."""

    FOUND = "found"
    HELD = "held"
    MISSING = "missing"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class File:
    """A file that a record names. `document` is the one that holds it, where the viewer may see that."""

    name: str
    state: State
    code: str = ""
    detail: str = ""
    document: Document | None = None


@dataclass(slots=True)
class Row:
    """A record as the preview shows it. `held` is a document of the same work that the viewer may see."""

    record: Record
    files: list[File] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    held: Document | None = None

    @property
    def refuses(self) -> bool:
        """Whether a file of the record is there and cannot be taken in."""
        return any(file.state == State.REFUSED for file in self.files)

    @property
    def is_remarkable(self) -> bool:
        """Whether there is more to say than that the record is taken in."""
        return bool(self.problems or self.held) or any(file.state != State.FOUND for file in self.files)


@dataclass(frozen=True, slots=True)
class Examined:
    """What a form holds: the file that is kept for it, and what importing it would do."""

    name: str = ""
    token: str = ""
    error: str = ""
    code: str = ""
    format: str = ""
    records: int = 0
    works: int = 0
    stating: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    rows: tuple[Row, ...] = ()
    left_out: int = 0
    problems: tuple[Problem, ...] = ()
    more_problems: int = 0
    refused_parts: tuple[RefusedPart, ...] = ()

    @property
    def format_name(self) -> str:
        """The format as people call it."""
        return _FORMATS.get(self.format, self.format)

    @property
    def may_take(self) -> bool:
        """Whether there is anything to import."""
        return not self.error and (self.works > 0 or self.files_to_take > 0)

    @property
    def files_to_take(self) -> int:
        """How many files the run would read."""
        return self.counts.get(State.FOUND, 0) + self.counts.get(State.HELD, 0)


@dataclass(frozen=True, slots=True)
class Taken:
    """What an import did at once: the run that reads the files, if there are any, and the works known now."""

    run: IngestionRun | None
    works: int


EMPTY = Examined()


def examine(file: Sent, *, token: str, encoding: str, by: User) -> Examined:
    """Say what importing the library of a form would do. Nothing is written."""
    found = Examined(name=file.name, token=token)
    try:
        with _opened(file) as unpacked:
            return _examined(found, _planned(unpacked, encoding), unpacked, by)
    except Unusable as unusable:
        return replace(found, error=str(unusable), code=unusable.code)


def take(file: Sent, *, encoding: str, bucket: str, by: User) -> Taken:
    """Register the works of a library and hand its files to the workers as one run.

    Raises `Unusable` when there is nothing in it, and `EmbeddingError` when no file can be taken in at
    present.
    """
    with _opened(file) as unpacked:
        planned = _planned(unpacked, encoding)
        run = enqueue_library(planned, origin=_origin(file), bucket=bucket, by=by)
    return Taken(run, len(works.distinct(planned.works)))


def _origin(file: Sent) -> str:
    return f"library {PurePath(file.name).name}"[:300]


@contextmanager
def _opened(file: Sent) -> Iterator[Unpacked]:
    """Yield the library in a folder of its own, with the files that came with it; raise `Unusable`."""
    limit = settings.SCI_RAG_MAX_UPLOAD_MB * 1_000_000
    with tempfile.TemporaryDirectory(prefix="library-") as name:
        folder = Path(name).resolve()
        if is_archive(file.path):
            yield unpack(file.path, folder, largest_file=limit, most_bytes=_FILES_IN_ALL * limit)
            return
        extension = PurePath(file.name).suffix.lower()
        if extension == ".zip":
            raise Unusable("damaged", _("The file is named like a ZIP archive and is none."))
        copy = folder / f"library{extension if extension in LIBRARY_EXTENSIONS else ''}"
        shutil.copyfile(file.path, copy)
        yield Unpacked(copy)


def _planned(unpacked: Unpacked, encoding: str) -> Plan:
    """Return what the library says; raise `Unusable` when it has no record."""
    size = unpacked.library.stat().st_size
    if size > MOST_LIBRARY_BYTES:
        message = _(
            "The library has %(size)d MB of text; this page reads %(limit)d. Use `sci-rag corpus import`."
        )
        limit = MOST_LIBRARY_BYTES // 1_000_000
        raise Unusable("too_large", message % {"size": size // 1_000_000, "limit": limit})
    planned = plan(unpacked.library, read(unpacked.library, encoding=encoding))
    if not planned.library.records:
        first = next(iter(planned.problems), None)
        if first is None:
            raise Unusable("no_records", _("The library has no records."))
        where = _("Line %(line)d: ") % {"line": first.line} if first.line else ""
        raise Unusable(first.code, f"{where}{first.message}")
    refused = [_unless_refused(file, record, unpacked) for file, record in _named(planned)]
    planned.batch = replace(planned.batch, files=tuple(refused))
    return planned


def _named(planned: Plan) -> Iterator[tuple[Entry | Refusal, Record]]:
    yield from zip(planned.batch.files, planned.records, strict=True)


def _unless_refused(file: Entry | Refusal, record: Record, unpacked: Unpacked) -> Entry | Refusal:
    part = unpacked.refused.get(file.path) if isinstance(file, Entry) else None
    if part is None:
        return file
    return Refusal(file.name, part.code, f"Record {record.key} on line {record.line}: {part.message}")


def _examined(found: Examined, planned: Plan, unpacked: Unpacked, by: User) -> Examined:
    rows = [Row(record) for record in planned.library.records]
    of_record = {id(row.record): row for row in rows}
    counts: dict[str, int] = defaultdict(int)
    for file, record in _named(planned):
        shown = _file(file, by)
        counts[shown.state] += 1
        of_record[id(record)].files.append(shown)
    loose = _sort_problems(rows, planned.problems)
    _note_held(rows, by)
    shown_rows = [row for row in rows if row.is_remarkable] if len(rows) > _MOST_ROWS else rows
    return replace(
        found,
        format=planned.library.format,
        records=len(rows),
        works=len(works.distinct(planned.works)),
        stating=sum(bool(row.record.rights) for row in rows),
        counts=dict(counts),
        rows=tuple(shown_rows[:_MOST_ROWS]),
        left_out=len(rows) - len(shown_rows[:_MOST_ROWS]),
        problems=tuple(loose[:_MOST_PROBLEMS]),
        more_problems=max(0, len(loose) - _MOST_PROBLEMS),
        refused_parts=tuple([*unpacked.loose, *unpacked.refused.values()][:_MOST_PROBLEMS]),
    )


def _file(file: Entry | Refusal, by: User) -> File:
    if isinstance(file, Refusal):
        state = State.MISSING if file.code == Code.MISSING_FILE else State.REFUSED
        # The record stands beside it on the page.
        detail = file.detail.partition(": ")[2] or file.detail
        return File(file.name, state, file.code, detail)
    line = uploads.judge(Sent(file.path, file.name), by=by)
    states = {
        Verdict.ACCEPTED: State.FOUND,
        Verdict.DUPLICATE: State.HELD,
        Verdict.REFUSED: State.REFUSED,
    }
    return File(file.name, states[line.verdict], line.code, line.detail, line.document)


def _sort_problems(rows: Sequence[Row], problems: Sequence[Problem]) -> list[Problem]:
    """Give each record its problems; return those of no record."""
    by_place: dict[tuple[int, str], Row] = {}
    for row in rows:
        by_place.setdefault((row.record.line, row.record.key), row)
    loose = []
    for problem in problems:
        owner = by_place.get((problem.line, problem.key))
        if owner is None:
            loose.append(problem)
        else:
            owner.problems.append(problem)
    return loose


def _note_held(rows: Sequence[Row], by: User) -> None:
    """Note on each record which document of the same work is held, of those that `by` may see."""
    wanted: dict[Identifier, list[Row]] = defaultdict(list)
    for row in rows:
        if row.record.identifier is not None:
            wanted[row.record.identifier].append(row)
    readable = Document.objects.within(ceilings.effective_scope(by, RetrievalScope()))
    for identifier, document in works.held(wanted, readable):
        for row in wanted[identifier]:
            if all(file.document != document for file in row.files):
                row.held = document
