"""RIS files: two-letter tags, one record from TY to ER. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from corpus.bibliography.names import inverted_name
from corpus.bibliography.records import Attachment, Code, Draft, Library, Problem

_TAG = re.compile(r"([A-Z][A-Z0-9])  ?-(?: (.*)|\s*)$")
_TITLES = ("TI", "T1", "CT", "BT")
_CONTAINERS = ("JO", "JF", "T2", "BT", "JA", "J2", "T3")
_PEOPLE = ("AU", "A1", "A2", "ED", "A3", "A4")
_DATES = ("PY", "Y1", "DA", "Y2")
_FILES = ("L1", "L2", "L4")


@dataclass(slots=True)
class _Entry:
    line: int
    tags: dict[str, list[str]] = field(default_factory=dict)

    def all(self, *names: str) -> list[str]:
        return [value for name in names for value in self.tags.get(name, [])]

    def first(self, *names: str) -> str:
        return next(iter(self.all(*names)), "")


def read(text: str, most: int) -> Library:
    """Return the records of an RIS file, at most `most`."""
    library = Library("ris")
    for entry in _entries(text, library.problems):
        if len(library.records) == most:
            library.problems.append(Problem(entry.line, "", Code.TOO_LARGE, f"More than {most:,} records."))
            break
        library.records.append(_draft(entry, len(library.records) + 1).finish(library.problems))
    return library


def _entries(text: str, problems: list[Problem]) -> Iterator[_Entry]:
    entry: _Entry | None = None
    last: list[str] | None = None
    stray = 0
    for number, line in enumerate(text.split("\n"), start=1):
        found = _TAG.match(line.rstrip("\r"))
        tag = found[1] if found is not None else ""
        if tag == "TY":
            if entry is not None:
                yield _unclosed(entry, problems)
            entry = _Entry(number)
        if entry is None:
            if line.strip() and not stray:
                stray = number
                message = "Lines outside of a record, from here on, are left out."
                problems.append(Problem(number, "", Code.BROKEN_ENTRY, message))
        elif tag == "ER":
            yield entry
            entry, last, stray = None, None, 0
        elif found is not None:
            last = entry.tags.setdefault(tag, [])
            last.append((found[2] or "").strip())
        elif line.strip() and last is not None:
            last[-1:] = [f"{last[-1]}\n{line.strip()}"] if len(last[-1]) < 100_000 else last[-1:]
    if entry is not None:
        yield _unclosed(entry, problems)


def _unclosed(entry: _Entry, problems: list[Problem]) -> _Entry:
    message = "The record has no ER line; it was read up to the next one."
    problems.append(Problem(entry.line, entry.first("ID"), Code.REPAIRED_ENTRY, message))
    return entry


def _draft(entry: _Entry, number: int) -> Draft:
    kind = entry.first("TY").lower()
    notes = entry.all("N1", "AN", "M1", "M3", "C1", "C2")
    addresses = entry.all("UR", "L2", "L3")
    title = entry.first(*_TITLES)
    container = next((value for value in entry.all(*_CONTAINERS) if value and value != title), "")
    people = next((names for names in (entry.all(tag) for tag in _PEOPLE) if any(names)), [])
    is_pubmed = "pubmed" in entry.first("DB", "DP").lower()
    return Draft(
        key=entry.first("ID") or f"record {number}",
        line=entry.line,
        kind=kind,
        title=title,
        authors=tuple(filter(None, (inverted_name(name) for value in people for name in value.split("\n")))),
        dates=tuple(entry.all(*_DATES)),
        doi=entry.first("DO", "DI"),
        elsewhere=(*(note for note in notes if "10." in note and "doi" in note.lower()), *addresses),
        arxiv=(*addresses, *(note for note in notes if "arxiv" in note.lower())),
        pmid=next((note for note in notes if "PMID" in note), entry.first("AN") if is_pubmed else ""),
        isbn=entry.first("SN"),
        container=container,
        publisher=entry.first("PB"),
        url=next((word for value in addresses for word in value.split() if word.startswith("http")), ""),
        language=entry.first("LA"),
        version=entry.first("ET"),
        attachments=tuple(
            Attachment((path.strip(),))
            for value in entry.all(*_FILES)
            for path in re.split(r";(?=\s*(?:file|internal-pdf|https?):)|\n", value)[:50]
            if path.strip()
        ),
    )
