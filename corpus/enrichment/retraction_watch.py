"""Importing Retraction Watch's file: row by row, kept where it speaks of a work that is held or cited."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TextIO

from django.db import transaction

from corpus.actions.editorial import record_event
from corpus.identifiers import normalise_doi
from corpus.models import Document, DocumentCitation, EditorialEvent, Source

Type = Source.IdentifierType

KINDS = {
    "retraction": EditorialEvent.Kind.RETRACTION,
    "expression of concern": EditorialEvent.Kind.CONCERN,
    "correction": EditorialEvent.Kind.CORRECTION,
    "reinstatement": EditorialEvent.Kind.REINSTATEMENT,
}
NEEDED = ("Record ID", "RetractionDate", "RetractionDOI", "OriginalPaperDOI", "RetractionNature")
_LONGEST_FIELD = 1_000_000
_MOST_PROBLEMS = 100
_MONTH_FIRST = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})(?:[ T][0-9:.]{1,15})?(?: ?[AP]M)?")
_YEAR_FIRST = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:[ T][0-9:.+Z]{1,20})?")


class UnreadableFile(ValueError):
    """The file is not Retraction Watch's. The message says what is wrong with it."""


@dataclass(slots=True)
class Imported:
    """What an import came to. `problems` name the line; they are of rows that speak of a work known here."""

    rows: int = 0
    matched: int = 0
    recorded: int = 0
    known: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Row:
    work: str
    """The identifier the row matched by: a DOI, or `pmid:` and a number."""
    kind: EditorialEvent.Kind
    happened_on: date
    notice_doi: str
    note: str = field(compare=False)


def import_file(path: Path, *, dry_run: bool = False) -> Imported:
    """Record what the file asserts about works that are held or cited. Importing again changes nothing.

    Each event stands in a transaction of its own. Raises `UnreadableFile` and `OSError`.
    """
    report = Imported()
    known = _Known()
    done: set[_Row] = set()
    with _opened(path) as lines:
        for number, row in _rows(lines):
            report.rows += 1
            found = _read(row, number, known, report)
            if found is None or found in done:
                report.skipped["repeated"] += found is not None
                continue
            done.add(found)
            report.matched += 1
            if known.has(found):
                report.known += 1
                continue
            report.recorded += 1
            if not dry_run:
                _record(found, known)
    return report


class _Known:
    """The works that matter: those with a record, by DOI or PubMed number, and those that are cited."""

    def __init__(self) -> None:
        rows = Source.objects.filter(identifier_type__in=[Type.DOI, Type.PMID])
        self.works = {
            value if kind == Type.DOI else f"pmid:{value}": key
            for kind, value, key in rows.values_list("identifier_type", "identifier_value", "id").iterator()
        }
        # A document whose DOI somebody corrected speaks of the work with that DOI too.
        held = Document.objects.exclude(doi_normalised="").values_list("doi_normalised", flat=True)
        cited = DocumentCitation.objects.exclude(doi_normalised="").values_list("doi_normalised", flat=True)
        self.mentioned = {*held.iterator(), *cited.distinct().iterator()} - self.works.keys()
        events = EditorialEvent.objects.filter(origin=EditorialEvent.Origin.RETRACTION_WATCH)
        self._events = set(events.values_list("source_id", "kind", "happened_on", "notice_doi").iterator())

    def identify(self, row: Mapping[str, str]) -> str | None:
        """Return the identifier by which the row's work is known here, None where it is not."""
        doi = normalise_doi(row.get("OriginalPaperDOI", ""))
        if doi is not None and (doi in self.works or doi in self.mentioned):
            return doi
        number = row.get("OriginalPaperPubMedID", "").strip().removesuffix(".0")
        by_number = f"pmid:{number.lstrip('0')}"
        return by_number if by_number in self.works else None

    def has(self, row: _Row) -> bool:
        """Whether the event is recorded already."""
        source = self.works.get(row.work)
        key = (source, row.kind.value, row.happened_on, row.notice_doi)
        return source is not None and key in self._events


def _read(row: Mapping[str, str], number: int, known: _Known, report: Imported) -> _Row | None:
    """Return what the row asserts about a work known here; None, with the reason counted, otherwise."""
    work = known.identify(row)
    if work is None:
        report.skipped["other_work" if row.get("OriginalPaperDOI", "").strip() else "no_identifier"] += 1
        return None
    nature = " ".join(row["RetractionNature"].split())
    kind, day = KINDS.get(nature.lower()), _day(row["RetractionDate"])
    if kind is None or day is None:
        what = f"nature {nature[:40]!r}" if kind is None else f"date {row['RetractionDate'][:40]!r}"
        report.skipped["unreadable"] += 1
        if len(report.problems) < _MOST_PROBLEMS:
            report.problems.append(f"line {number}: {work}: {what} is not one I know")
        return None
    identifier, reason = row["Record ID"].strip()[:20], " ".join(row.get("Reason", "").split())
    note = f"Retraction Watch {identifier}: {reason}".rstrip(": ")[:1_000]
    return _Row(work, kind, day, normalise_doi(row["RetractionDOI"]) or "", note)


@transaction.atomic
def _record(row: _Row, known: _Known) -> None:
    if row.work in known.works:
        source = Source.objects.filter(pk=known.works[row.work]).first()
        if source is None:
            return  # Deleted since the import began.
    else:
        source, _ = Source.objects.get_or_create(identifier_type=Type.DOI, identifier_value=row.work)
        known.works[row.work] = source.pk
    record_event(
        source=source,
        kind=row.kind,
        origin=EditorialEvent.Origin.RETRACTION_WATCH,
        happened_on=row.happened_on,
        notice_doi=row.notice_doi,
        note=row.note,
    )


def _day(text: str) -> date | None:
    """Return the day as the file writes it, month first, or as ISO does; None for anything else."""
    by_month, by_year = _MONTH_FIRST.fullmatch(text.strip()), _YEAR_FIRST.fullmatch(text.strip())
    try:
        if by_month is not None:
            return date(int(by_month[3]), int(by_month[1]), int(by_month[2]))
        return None if by_year is None else date(int(by_year[1]), int(by_year[2]), int(by_year[3]))
    except ValueError:
        return None


def _opened(path: Path) -> TextIO:
    """Open the file as UTF-8 or UTF-16; bytes that are neither are read as Windows wrote them."""
    with path.open("rb") as raw:
        start = raw.read(4)
    encoding = "utf-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    return path.open(encoding=encoding, errors=_AS_WINDOWS, newline="")


def _as_windows(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


_AS_WINDOWS = "sci-rag-as-windows"
codecs.register_error(_AS_WINDOWS, _as_windows)


def _rows(lines: TextIO) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows that are not empty with the number of the line each ends on."""
    csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.DictReader(lines, restval="", restkey="")
    try:
        missing = [name for name in NEEDED if name not in (reader.fieldnames or ())]
        if missing:
            raise UnreadableFile(
                f"The first line lacks the columns {', '.join(missing)}. Give the CSV file of Retraction "
                "Watch as Crossref hands it out."
            )
        for row in reader:
            row.pop("", None)
            if any(value.strip() for value in row.values()):
                yield reader.line_num, {name: value.replace("\0", "") for name, value in row.items()}
    except csv.Error as error:
        raise UnreadableFile(f"Line {reader.line_num} cannot be read: {error}.") from None
    except UnicodeError:
        raise UnreadableFile(f"Line {reader.line_num + 1} is not text.") from None
