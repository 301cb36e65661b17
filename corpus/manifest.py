"""The manifest: one JSON object a line, each describing a file. Reads, checks, names every problem."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn, Protocol

from corpus.licensing import normalise
from corpus.manifest_fields import FIELDS, FieldError
from corpus.normalise import legible_name
from corpus.parsing.media_types import BY_EXTENSION
from corpus.rights import CLOSED, LicenseClass, raises

MAX_BYTES = 20_000_000
MAX_LINE_BYTES = 200_000
MAX_ROWS = 10_000
ALIASES = {"source": "bucket"}


class Code(StrEnum):
    """What may be wrong with a manifest. Stable: scripts read them."""

    UNREADABLE = "unreadable"
    TOO_LARGE = "too_large"
    INVALID_JSON = "invalid_json"
    NOT_AN_OBJECT = "not_an_object"
    INVALID_FIELD = "invalid_field"
    UNKNOWN_LICENSE_CLASS = "unknown_license_class"
    MISSING_TITLE = "missing_title"
    MISSING_FILE = "missing_file"
    UNSUPPORTED_FILE_TYPE = "unsupported_file_type"
    OUTSIDE_FOLDER = "outside_folder"
    DUPLICATE_PATH = "duplicate_path"
    UNKNOWN_KEY = "unknown_key"
    LOOSER_THAN_ITS_SIGNAL = "looser_than_its_signal"


# A key nobody reads does no harm, and what a class rests on is for people to judge.
_WARNINGS = frozenset({Code.UNKNOWN_KEY, Code.LOOSER_THAN_ITS_SIGNAL})
# A file may state its own title.
_HARMLESS = _WARNINGS | {Code.MISSING_TITLE}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with one line."""

    line: int
    code: Code
    message: str
    path: str = ""

    @property
    def is_warning(self) -> bool:
        return self.code in _WARNINGS

    @property
    def refuses(self) -> bool:
        """Whether the line's file cannot be taken in."""
        return self.code not in _HARMLESS


@dataclass(frozen=True, slots=True)
class Described:
    """What somebody says about a file. Empty and None mean that they say nothing."""

    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str = ""
    journal: str = ""
    url: str = ""
    license_class: LicenseClass | None = None
    license_source: str = ""
    # A day as "2027-01-31": until then the document is restricted.
    embargo_until: str = ""
    bucket: str = ""
    version: str = ""
    supersedes: str = ""
    language: str = ""
    parser: str = ""
    # Why its words may be searched though they speak to machines, by somebody who has read them.
    vouched_for: str = ""
    # The work's identifier when it is no DOI, as "arxiv:2101.00001"; libraries give it, manifests cannot.
    identifier: str = ""


UNDESCRIBED = Described()


@dataclass(frozen=True, slots=True)
class Entry:
    """A file to take in: where it is, how to name it in reports, and what is said about it.

    `file_name` is what it was called where it came from, when it lies under another name now.
    """

    path: Path
    name: str
    described: Described = UNDESCRIBED
    line: int | None = None
    file_name: str = ""

    @property
    def original_name(self) -> str:
        """What the file is called by those who know it."""
        return self.file_name or legible_name(self.path.name)


@dataclass(slots=True)
class Manifest:
    """A manifest as read: the entries that can be taken in, and all problems in order of line."""

    path: Path
    entries: list[Entry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def has_errors(self) -> bool:
        return any(not problem.is_warning for problem in self.problems)


class Places(Protocol):
    """Where the files that a manifest names are looked for."""

    @property
    def absent(self) -> str:
        """What to say of a file that is not there."""

    def place(self, name: str) -> Path:
        """Return what `name` means here; two names of one place are the same file. Raises `_Refused`."""

    def file(self, place: Path) -> Path | None:
        """Return the file at a place, None where there is none."""


def read(path: Path) -> Manifest:
    """Read a manifest and check every line of it; nothing is raised for what is wrong inside."""
    manifest = Manifest(path)
    try:
        text = _text(path)
    except _Refused as refused:
        manifest.problems.append(refused.at(0))
        return manifest
    return _checked_lines(manifest, text, _Folder(path.resolve().parent))


def read_text(text: str, files: Mapping[str, Path]) -> Manifest:
    """Check a manifest that came as text, with the files that came with it by their names.

    A file is found by the last part of its path, since browsers send no folders.
    """
    return _checked_lines(Manifest(Path("manifest.jsonl")), text.removeprefix("\ufeff"), _Sent(files))


def _checked_lines(manifest: Manifest, text: str, places: Places) -> Manifest:
    seen: dict[Path, int] = {}
    rows = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        rows += 1
        if rows > MAX_ROWS:
            manifest.problems.append(_Refused(Code.TOO_LARGE, f"More than {MAX_ROWS:,} entries.").at(number))
            break
        _read_line(manifest, places, line, number, seen)
    return manifest


class _Refused(Exception):
    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code

    def at(self, line: int, path: str = "") -> Problem:
        return Problem(line, self.code, str(self), path)


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _Refused(Code.TOO_LARGE, f"The manifest is larger than {MAX_BYTES // 1_000_000} MB.")
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _Refused(Code.UNREADABLE, "The manifest is not UTF-8 text.") from None
    except OSError as error:
        reason = error.strerror or "not a file"
        raise _Refused(Code.UNREADABLE, f"The manifest cannot be read: {reason}.") from None


def _read_line(manifest: Manifest, places: Places, line: str, number: int, seen: dict[Path, int]) -> None:
    try:
        row = _object(line)
    except _Refused as refused:
        manifest.problems.append(refused.at(number))
        return
    name = legible_name(row["path"]) if isinstance(row.get("path"), str) else ""
    found = [refused.at(number, name) for refused in _unknown_keys(row)]
    values: dict[str, Any] = {}
    for key, value in row.items():
        try:
            values |= _checked(key, value)
        except _Refused as refused:
            found.append(refused.at(number, name))
    if "title" not in values and not any(problem.message.startswith("title ") for problem in found):
        found.append(Problem(number, Code.MISSING_TITLE, "The entry has no title.", name))
    found += [refused.at(number, name) for refused in _disagreements(values)]
    try:
        path = _found(places, row, seen, number)
    except _Refused as refused:
        found.append(refused.at(number, name))
    else:
        if not any(problem.refuses for problem in found):
            manifest.entries.append(Entry(path, name, Described(**values), number))
    manifest.problems += found


def _object(line: str) -> dict[str, Any]:
    # Half a character is for the fields to refuse.
    if len(line.encode("utf-8", "surrogatepass")) > MAX_LINE_BYTES:
        raise _Refused(Code.TOO_LARGE, f"The line is longer than {MAX_LINE_BYTES // 1000} kB.")
    try:
        value = json.loads(line, parse_constant=_no_constant, object_pairs_hook=_no_duplicates)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else _json_reason(error)
        raise _Refused(Code.INVALID_JSON, f"The line is not JSON: {reason}.") from None
    if not isinstance(value, dict):
        raise _Refused(Code.NOT_AN_OBJECT, "The line is not a JSON object in braces.")
    return value


def _json_reason(error: Exception) -> str:
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a value")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("a key stands there twice")
    return row


def _unknown_keys(row: dict[str, Any]) -> Iterator[_Refused]:
    for key in row:
        if key != "path" and ALIASES.get(key, key) not in FIELDS:
            yield _Refused(Code.UNKNOWN_KEY, f"Nobody reads the key {key[:60]!r}.")


def _checked(key: str, value: Any) -> dict[str, Any]:
    name = ALIASES.get(key, key)
    check = FIELDS.get(name)
    if check is None or value is None:
        return {}
    try:
        return {name: check(value)}
    except FieldError as error:
        code = Code.UNKNOWN_LICENSE_CLASS if error.is_unknown_class else Code.INVALID_FIELD
        raise _Refused(code, f"{key} {error}") from None


def _disagreements(values: dict[str, Any]) -> Iterator[_Refused]:
    """Name what the fields of an entry say against each other."""
    declared, signal = values.get("license_class"), values.get("license_source", "")
    if values.get("embargo_until") and declared not in (None, LicenseClass.RESTRICTED):
        yield _Refused(
            Code.INVALID_FIELD,
            f"embargo_until keeps a document restricted; license_class is {declared}. Leave it out: "
            "a person decides when the day has come.",
        )
    read = normalise(signal) if declared is not None and signal else None
    if declared is None or read is None:
        return
    if read.is_known and raises(read.license_class, declared):
        yield _Refused(
            Code.LOOSER_THAN_ITS_SIGNAL,
            f"license_class {declared} allows more than license_source, which reads as "
            f"{read.license_class}: {read.reason}",
        )
    elif not read.is_known and declared not in CLOSED:
        yield _Refused(
            Code.LOOSER_THAN_ITS_SIGNAL,
            f"license_class {declared} rests on a license_source that names no known licence.",
        )


def _found(places: Places, row: dict[str, Any], seen: dict[Path, int], number: int) -> Path:
    """Return the entry's file, which no earlier line names."""
    name = row.get("path")
    if not isinstance(name, str) or not name.strip() or "\0" in name:
        raise _Refused(Code.INVALID_FIELD, "path must be the file's name, relative to the manifest.")
    place = places.place(name)
    if place in seen:
        raise _Refused(Code.DUPLICATE_PATH, f"The same file is named on line {seen[place]}.")
    seen[place] = number
    if place.suffix.lower() not in BY_EXTENSION:
        raise _Refused(Code.UNSUPPORTED_FILE_TYPE, f"No parser reads {place.suffix[:20]!r} files.")
    file = places.file(place)
    if file is None:
        raise _Refused(Code.MISSING_FILE, places.absent)
    return file


@dataclass(frozen=True, slots=True)
class _Folder:
    """The folder a manifest lies in, links followed."""

    path: Path
    absent: str = "The file does not exist."

    def place(self, name: str) -> Path:
        try:
            place = (self.path / name).resolve()
        except (OSError, RuntimeError, ValueError):
            raise _Refused(Code.MISSING_FILE, "The file cannot be reached.") from None
        if Path(name).is_absolute() or not place.is_relative_to(self.path):
            raise _Refused(Code.OUTSIDE_FOLDER, "The file lies outside the manifest's folder.")
        return place

    def file(self, place: Path) -> Path | None:
        return place if _is_file(place) else None


@dataclass(frozen=True, slots=True)
class _Sent:
    """Files that came with the manifest, by name."""

    files: Mapping[str, Path]
    absent: str = "No file of this name came with the manifest."

    def place(self, name: str) -> Path:
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts:
            raise _Refused(Code.OUTSIDE_FOLDER, "The file lies outside the manifest's folder.")
        return Path(path.name)

    def file(self, place: Path) -> Path | None:
        return self.files.get(place.name)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
