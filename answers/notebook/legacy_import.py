"""Importing a legacy knowledge base: each row becomes a note, each DOI a work that it cites.

A note keeps a hash of whose it is and what its row said, so that importing again adds only what is new.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import connection, transaction

from answers.notebook import keeping, legacy
from answers.notebook.actions import Words
from answers.notebook.keeping import NewNote
from answers.notebook.legacy import Row
from answers.notebook.models import LONGEST_TEXT, LONGEST_TITLE, Observation
from answers.notebook.naming import DOI, Named
from answers.notebook.naming import LONGEST_TITLE as LONGEST_NAME
from corpus.bibliography.identifiers import doi_in
from corpus.identifiers import normalise_doi
from corpus.normalise import visible

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Watch = Callable[[int, int], None]
BATCH = 100
MOST_DOIS = 20
_LOCK = 7_205
# Reasons for which a row does not become a note, and remarks about notes that were imported.
LOST = ("no_text", "not_text", "too_long")
REASONS = {
    "no_text": "rows without words were left out.",
    "not_text": "rows whose words are no text were left out.",
    "too_long": f"rows with more than {LONGEST_TEXT:,} characters were left out.",
    "repeated": "rows that repeat another were counted once.",
    "no_doi": "notes have no DOI.",
    "not_a_doi": "notes name a source by something that is no DOI; it is kept as a title.",
    "unreadable_doi": "notes name a source by something that cannot be kept.",
}


@dataclass(slots=True)
class Report:
    """What an import came to."""

    table: str = ""
    text_column: str = ""
    rows: int = 0
    imported: int = 0
    known: int = 0
    works: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def lost(self) -> int:
        """How many rows became no note."""
        return sum(self.left_out[reason] for reason in LOST)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "table": self.table,
            "text_column": self.text_column,
            "rows": self.rows,
            "imported": self.imported,
            "known": self.known,
            "works": self.works,
            "left_out": dict(self.left_out),
        }


@dataclass(frozen=True, slots=True)
class _Note:
    key: str
    words: Words
    named: tuple[Named, ...]
    remark: str


def import_file(
    path: Path,
    *,
    table: str = "",
    text_column: str = "",
    kind: str = Observation.Kind.FINDING,
    share: bool = False,
    by: User | None = None,
    dry_run: bool = False,
    watch: Watch | None = None,
) -> Report:
    """Import the rows of the file into `by`'s notebook. Raises `legacy.UnreadableBase`.

    Each hundred is committed by itself, so that an import that was cut off is continued by importing again.
    `watch` is told how many rows of how many are done.
    """
    report = Report()
    works: set[Named] = set()
    seen: set[str] = set()
    with legacy.opened(path) as base:
        place = legacy.columns(base, table=table, text_column=text_column)
        report.table, report.text_column = place.table, place.text
        total = legacy.count(base, place)
        notes = _notes(legacy.rows(base, place), report, seen, kind=kind, share=share, by=by)
        while batch := list(islice(notes, BATCH)):
            works |= {work for note in batch for work in note.named if work.kind}
            _store(batch, report, by=by, dry_run=dry_run)
            if watch is not None:
                watch(report.rows, total)
    report.works = len(works)
    return report


def _notes(
    rows: Iterable[Row], report: Report, seen: set[str], *, kind: str, share: bool, by: User | None
) -> Iterator[_Note]:
    for row in rows:
        report.rows += 1
        text = None if row.text is None else visible(row.text).strip()
        reason = _why_not(text)
        if text is None or reason:
            report.left_out[reason] += 1
            continue
        title = " ".join(visible(row.title or "").split())[:LONGEST_TITLE]
        key = _key(by, text, row.doi)
        if key in seen:
            report.left_out["repeated"] += 1
            continue
        seen.add(key)
        named, remark = _named(row.doi)
        yield _Note(key, Words(text, kind, title, share), named, remark)


def _why_not(text: str | None) -> str:
    if text is None:
        return "not_text"
    if not text:
        return "no_text"
    return "too_long" if len(text) > LONGEST_TEXT else ""


def _key(by: User | None, text: str, doi: str | None) -> str:
    told = json.dumps([None if by is None else by.pk, text, doi])
    return hashlib.sha256(told.encode()).hexdigest()


def _named(cell: str | None) -> tuple[tuple[Named, ...], str]:
    """Return the works a cell names: one DOI or several, else what stands there as a title."""
    text = " ".join(visible(cell or "").split())
    if not text:
        return (), "no_doi" if cell is not None else "unreadable_doi"
    parts = [part for part in re.split(r"[;,\s]+", text) if part]
    dois = [normalise_doi(part) for part in parts]
    if not all(dois):
        dois = [normalise_doi(doi_in(text))]
    works = tuple(Named(DOI, doi) for doi in dict.fromkeys(dois) if doi and len(doi) <= 500)
    if works:
        return works[:MOST_DOIS], ""
    if len(text) <= LONGEST_NAME and any(char.isalnum() for char in text):
        return (Named("", "", text),), "not_a_doi"
    return (), "unreadable_doi"


@transaction.atomic
def _store(batch: list[_Note], report: Report, *, by: User | None, dry_run: bool) -> None:
    """Keep the notes of a batch that are not kept yet."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
    keys = [note.key for note in batch]
    known = set(
        Observation.objects.filter(imported_key__in=keys)
        .order_by("imported_key")
        .values_list("imported_key", flat=True)
    )
    report.left_out.update(note.remark for note in batch if note.remark)
    new = [note for note in batch if note.key not in known]
    report.known += len(batch) - len(new)
    report.imported += len(new)
    if not dry_run:
        keeping.add_all(notes=[NewNote(note.words, note.named, note.key) for note in new], by=by)
