"""How files of a folder begin, and what they state of themselves: what a manifest is drafted from."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from corpus.inputs import NothingFound, from_paths
from corpus.manifest import Entry
from corpus.normalise import legible_name
from corpus.parsing.blocks import Block, ParsedDocument, ParseFailure
from corpus.parsing.registry import SUPPORTED_EXTENSIONS, parse

LONGEST_BEGINNING = 6_000
# A paper names itself on its first pages; what comes later names others.
_LAST_PAGE = 2
MOST_FILES = 10_000


@dataclass(frozen=True, slots=True)
class Beginning:
    """The beginning of one file. `failure` says why there is none."""

    name: str
    text: str = ""
    parsed: ParsedDocument | None = None
    failure: str = ""


def files(folder: Path, *, without: Collection[str] = ()) -> list[tuple[str, Path]]:
    """Return the files of `folder` that can be taken in, with the paths a manifest in it gives them.

    Raises `NothingFound` when there are none.
    """
    root = Path(os.path.realpath(folder))
    entries = [entry for entry in from_paths([root]).files if isinstance(entry, Entry)]
    found = []
    for entry in entries:
        # What a link leads to outside of the folder no manifest in it may name.
        if entry.path.suffix.lower() in SUPPORTED_EXTENSIONS and entry.path.is_relative_to(root):
            name = legible_name(entry.path.relative_to(root).as_posix())
            found.append((name, entry.path))
    if not found:
        raise NothingFound(f"There are no files in {legible_name(str(folder))} that could be taken in.")
    if len(found) > MOST_FILES:
        raise NothingFound(f"There are more than {MOST_FILES:,} files: draft a folder at a time.")
    return [(name, path) for name, path in found if name not in without]


def beginnings(found: list[tuple[str, Path]]) -> Iterator[Beginning]:
    """Yield how each file begins, read in the parser's own process."""
    for name, path in found:
        try:
            parsed = parse(path)
        except ParseFailure as failure:
            yield Beginning(name, failure=failure.code)
            continue
        text = _text(parsed)
        yield Beginning(name, text, parsed, "" if text else "no_text")


def _text(parsed: ParsedDocument) -> str:
    lines: list[str] = []
    room = LONGEST_BEGINNING
    for block in parsed.blocks:
        if room <= 0 or (block.page is not None and block.page > _LAST_PAGE):
            break
        words = _words(block)
        lines.append(words[:room])
        room -= len(words) + 1
    return "\n".join(line for line in lines if line)


def _words(block: Block) -> str:
    cells = [" | ".join(row) for row in block.rows]
    return "\n".join([block.text, *cells]).strip()
