"""Which files a request means: a manifest, folders, single files. No database."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path, PurePath

from corpus import manifest as manifests
from corpus.manifest import UNDESCRIBED, Described, Entry
from corpus.normalise import legible_name
from corpus.parsing import parsers
from corpus.parsing.media_types import BY_EXTENSION


@dataclass(frozen=True, slots=True)
class Refusal:
    """A manifest line that names no file that can be taken in."""

    name: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Batch:
    """What to take in, in order, and how it was asked for."""

    origin: str
    files: tuple[Entry | Refusal, ...]


class NothingFound(ValueError):
    """The request names no file. The message says what was looked at."""


def from_manifest(path: Path) -> Batch:
    """Return the files of a manifest in its order, a refusal where a line cannot be followed.

    Raises `NothingFound` when the manifest itself cannot be read or is empty.
    """
    manifest = manifests.read(path)
    if manifest.problems and manifest.problems[0].line == 0:
        raise NothingFound(manifest.problems[0].message)
    files: list[tuple[int, Entry | Refusal]] = [(entry.line or 0, entry) for entry in manifest.entries]
    refusing = [problem for problem in manifest.problems if problem.refuses]
    for line, group in groupby(refusing, key=lambda problem: problem.line):
        problems = list(group)
        name = problems[0].path or f"{path.name} line {line}"
        detail = " ".join(problem.message for problem in problems)
        files.append((line, Refusal(name, str(problems[0].code), f"Line {line}: {detail}")))
    if not files:
        raise NothingFound(f"{path.name} has no entries.")
    return Batch(legible_name(str(path)), tuple(file for _, file in sorted(files, key=lambda pair: pair[0])))


def from_paths(paths: Sequence[Path], described: Described = UNDESCRIBED) -> Batch:
    """Return the files of `paths`: folders in full depth, sorted, hidden ones left out.

    A file named twice counts once. Raises `NothingFound` when the folders are empty.
    """
    entries: dict[Path, Entry] = {}
    for path in paths:
        for file in _files(path) if path.is_dir() else [path]:
            real = Path(os.path.realpath(file))
            entries.setdefault(real, Entry(real, legible_name(str(file)), described))
    origin = ", ".join(legible_name(str(path)) for path in paths)
    if not entries:
        raise NothingFound(f"There are no files in {origin}.")
    return Batch(origin, tuple(entries.values()))


def read_by(batch: Batch, parser: str) -> Batch:
    """Return `batch` with `parser` asked for wherever that parser reads such files and none is named."""
    extensions = {name for name, kind in BY_EXTENSION.items() if kind in parsers.reading(parser)}

    def asked(file: Entry | Refusal) -> Entry | Refusal:
        if isinstance(file, Refusal) or file.described.parser:
            return file
        if PurePath(file.original_name).suffix.lower() not in extensions:
            return file
        return replace(file, described=replace(file.described, parser=parser))

    return replace(batch, files=tuple(map(asked, batch.files)))


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files below `folder`, not following links to folders."""
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(root, name)
