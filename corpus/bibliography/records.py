"""What a library of a reference manager says: its records, and what is wrong with them. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from corpus.bibliography.dates import year_of
from corpus.bibliography.identifiers import Identifier, arxiv_in, doi_in, isbn_in, pmid_in
from corpus.bibliography.languages import language_code
from corpus.bibliography.markup import plain
from corpus.identifiers import normalise_doi
from corpus.manifest import Described
from corpus.manifest_fields import FIELDS, FieldError, text
from corpus.normalise import one_line

MOST_AUTHORS = 2_000
_LONGEST_KEY = 200


class Code(StrEnum):
    """What may be said about a library or one of its records. Stable: scripts read them."""

    UNREADABLE = "unreadable"
    TOO_LARGE = "too_large"
    UNKNOWN_FORMAT = "unknown_format"
    INVALID_JSON = "invalid_json"
    BROKEN_ENTRY = "broken_entry"
    REPAIRED_ENTRY = "repaired_entry"
    DUPLICATE_KEY = "duplicate_key"
    MISSING_PARENT = "missing_parent"
    UNDEFINED_STRING = "undefined_string"
    GUESSED_ENCODING = "guessed_encoding"
    INVALID_FIELD = "invalid_field"
    MISSING_FILE = "missing_file"
    OUTSIDE_FOLDER = "outside_folder"
    UNSUPPORTED_FILE_TYPE = "unsupported_file_type"
    DUPLICATE_PATH = "duplicate_path"
    WEB_ADDRESS = "web_address"
    LEFT_OUT = "left_out"
    NOTHING_TO_DO = "nothing_to_do"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing worth telling the librarian: where, which record, what. Line 0 is the file as a whole."""

    line: int
    key: str
    code: Code
    message: str


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file as a record names it: the spellings its path may have, likeliest first."""

    paths: tuple[str, ...]
    title: str = ""
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One work of a library. Empty and None mean that it says nothing. Names are given name first."""

    key: str
    line: int
    kind: str = ""
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str = ""
    arxiv: str = ""
    pmid: str = ""
    isbn: str = ""
    container: str = ""
    publisher: str = ""
    url: str = ""
    language: str = ""
    version: str = ""
    rights: str = ""
    attachments: tuple[Attachment, ...] = ()

    @property
    def identifier(self) -> Identifier | None:
        """What identifies the work itself. The ISBN of a chapter is that of its book, so it does not."""
        if self.doi:
            return Identifier("doi", normalise_doi(self.doi) or self.doi)
        if self.arxiv:
            return Identifier("arxiv", self.arxiv)
        if self.pmid:
            return Identifier("pmid", self.pmid)
        if self.isbn and self.kind in WHOLE_BOOKS:
            return Identifier("isbn", self.isbn)
        return None

    @property
    def described(self) -> Described:
        """What is said about the record's file. Its class is never derived from the stated rights here."""
        return Described(
            title=self.title,
            authors=self.authors,
            year=self.year,
            doi=self.doi,
            journal=self.container,
            url=self.url,
            license_source=self.rights,
            version=self.version,
            language=self.language,
            identifier="" if self.identifier is None else self.identifier.beyond_doi,
        )


# Kinds of all formats whose ISBN is the work's own.
WHOLE_BOOKS = frozenset(
    "book mvbook collection mvcollection proceedings mvproceedings booklet manual report techreport thesis"
    " phdthesis mastersthesis reference mvreference edbook ebook rprt thes".split()
)


@dataclass(slots=True)
class Library:
    """A library as read."""

    format: str = ""
    records: list[Record] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class Draft:
    """A record's values as a format gives them, before they are checked. Lists hold alternatives in order."""

    key: str
    line: int
    kind: str = ""
    title: str = ""
    authors: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    doi: str = ""
    # Where a DOI may stand that is not a DOI field: addresses and notes.
    elsewhere: tuple[str, ...] = ()
    arxiv: tuple[str, ...] = ()
    pmid: str = ""
    isbn: str = ""
    container: str = ""
    publisher: str = ""
    url: str = ""
    language: str = ""
    version: str = ""
    rights: str = ""
    attachments: tuple[Attachment, ...] = ()

    def finish(self, problems: list[Problem]) -> Record:
        """Return the record; name in `problems` each value that had to be left out."""
        key = tidy_key(self.key)
        checked = _Checked(self.line, key, problems)
        return Record(
            key=key,
            line=self.line,
            kind=self.kind.lower(),
            title=checked.value("title", plain(self.title)),
            authors=checked.authors(self.authors),
            year=next((year for year in map(year_of, self.dates) if year is not None), None),
            doi=checked.doi(self.doi, self.elsewhere),
            arxiv=next(filter(None, map(arxiv_in, self.arxiv)), ""),
            pmid=pmid_in(self.pmid),
            isbn=isbn_in(self.isbn),
            container=checked.value("journal", plain(self.container)),
            publisher=checked.value("publisher", plain(self.publisher), text(500)),
            url=checked.value("url", one_line(self.url)),
            language=language_code(self.language),
            version=checked.value("version", one_line(self.version)),
            rights=checked.value("license_source", one_line(self.rights)),
            attachments=self.attachments,
        )


@dataclass(frozen=True, slots=True)
class _Checked:
    """Checks values by the rules of manifests and names those that break them."""

    line: int
    key: str
    problems: list[Problem]

    def value(self, name: str, value: str, check: Callable[[Any], Any] | None = None) -> str:
        if not value:
            return ""
        try:
            return str((check or FIELDS[name])(value))
        except FieldError as error:
            self._name(name, str(error))
            return ""

    def authors(self, names: tuple[str, ...]) -> tuple[str, ...]:
        if len(names) > MOST_AUTHORS:
            self._name("authors", f"are more than {MOST_AUTHORS:,}; the rest is left out.")
        kept = []
        for name in names[:MOST_AUTHORS]:
            shown = self.value("authors", plain(name), text(300))
            if shown:
                kept.append(shown)
        return tuple(kept)

    def doi(self, given: str, elsewhere: tuple[str, ...]) -> str:
        found = doi_in(given)
        if given.strip() and not found:
            self._name("doi", "is not a DOI.")
        return found or next(filter(None, map(doi_in, elsewhere)), "")

    def _name(self, name: str, message: str) -> None:
        self.problems.append(Problem(self.line, self.key, Code.INVALID_FIELD, f"{name} {message}"))


def tidy_key(key: str) -> str:
    """Return a record's key as it may be shown."""
    return one_line(key)[:_LONGEST_KEY]
