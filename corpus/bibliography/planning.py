"""What importing a library means: files to take in, works to register, what is to be told. No database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from corpus.bibliography.attachments import NotFound, locate
from corpus.bibliography.records import Code, Library, Problem, Record
from corpus.inputs import Batch, Refusal
from corpus.manifest import Entry
from corpus.parsing.media_types import BY_EXTENSION, PDF


@dataclass(slots=True)
class Plan:
    """What an import does. `records` has the record of each file of the batch, in its order."""

    path: Path
    library: Library
    batch: Batch
    records: list[Record] = field(default_factory=list)
    works: list[Record] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def idle(self) -> int:
        """How many records have neither a file nor an identifier."""
        return sum(problem.code is Code.NOTHING_TO_DO for problem in self.problems)


def plan(path: Path, library: Library) -> Plan:
    """Match the records of `library`, read from `path`, with their files.

    Of a record with PDFs every PDF is taken in and nothing else; of a record without, the first file that
    a parser reads. A record with an identifier becomes a registered work, held or merely cited.
    """
    result = Plan(path, library, Batch(str(path), ()))
    files: list[Entry | Refusal] = []
    finder = _Finder(path.resolve().parent, result.problems)
    for record in library.records:
        found = finder.files(record)
        files += found
        result.records += [record] * len(found)
        if record.identifier is not None:
            result.works.append(record)
        elif not any(isinstance(file, Entry) for file in found):
            why = "its file cannot be taken in" if found else "it names no file"
            message = f"Nothing to do: no identifier, and {why}."
            result.problems.append(Problem(record.line, record.key, Code.NOTHING_TO_DO, message))
    result.batch = Batch(str(path), tuple(files))
    result.problems = sorted([*library.problems, *result.problems], key=lambda problem: problem.line)
    return result


class _Finder:
    """Finds the files of records, each file once."""

    def __init__(self, folder: Path, problems: list[Problem]) -> None:
        self.folder = folder
        self.problems = problems
        self.owners: dict[Path, Record] = {}

    def files(self, record: Record) -> list[Entry | Refusal]:
        """Return what is to be taken in of a record, and what of it cannot be."""
        found = list(self._located(record))
        readable = [item for item in found if isinstance(item, Path) and _media_type(item)]
        documents = [item for item in readable if _media_type(item) == PDF]
        chosen = set(documents or readable[:1])
        files: list[Entry | Refusal] = []
        for item in sorted(found, key=lambda item: not (isinstance(item, Path) and item in chosen)):
            if isinstance(item, NotFound):
                files += self._missing(record, item)
            elif item in chosen:
                files.append(self._entry(record, item))
            elif readable:
                message = f"{self._name(item)} is left out: the record has a better file."
                self._tell(record, Code.LEFT_OUT, message)
            else:
                message = f"No parser reads {item.suffix[:20]!r} files."
                files.append(_refusal(record, self._name(item), Code.UNSUPPORTED_FILE_TYPE, message))
        return files

    def _located(self, record: Record) -> Iterator[Path | NotFound]:
        seen = set()
        for attachment in record.attachments:
            where = locate(attachment, self.folder)
            if where not in seen:
                seen.add(where)
                yield where

    def _entry(self, record: Record, path: Path) -> Entry | Refusal:
        owner = self.owners.setdefault(path, record)
        if owner is not record:
            message = f"The same file is named by {_record(owner)}."
            return _refusal(record, self._name(path), Code.DUPLICATE_PATH, message)
        return Entry(path, self._name(path), record.described)

    def _missing(self, record: Record, item: NotFound) -> list[Refusal]:
        if item.code is Code.WEB_ADDRESS:
            self._tell(record, item.code, f"{item.message} {item.name}")
            return []
        return [_refusal(record, item.name, item.code, item.message)]

    def _tell(self, record: Record, code: Code, message: str) -> None:
        self.problems.append(Problem(record.line, record.key, code, message))

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self.folder))


def _media_type(path: Path) -> str:
    return BY_EXTENSION.get(path.suffix.lower(), "")


def _refusal(record: Record, name: str, code: Code, message: str) -> Refusal:
    return Refusal(name, code.value, f"{_record(record)}: {message}")


def _record(record: Record) -> str:
    return f"Record {record.key} on line {record.line}"
