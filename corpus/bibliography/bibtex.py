"""BibTeX and BibLaTeX files: blocks to fields, with strings, parents and what is broken named. Pure."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from corpus.bibliography import bibtex_fields
from corpus.bibliography.records import Code, Library, Problem, tidy_key

_MONTHS = dict.fromkeys("jan feb mar apr may jun jul aug sep oct nov dec".split())
_QUOTED_OR_NAME = re.compile(r'\s*#?\s*(?:"|\{|([^\s#"{}]+))')
_BRACE = re.compile(r"(?<!\\)[{}]")
_BRACE_OR_QUOTE = re.compile(r'(?<!\\)[{}"]')
# Nearer than the next block that could be read: a broken entry must not take what follows, nor long.
_NEXT_ENTRY = re.compile(r"(?<![\w{])@\w+[ \t]*[{(]")
_ENTRY_HEAD = re.compile(r"@(?P<kind>\w*)\s*[{(]\s*(?:(?P<key>[^,\s{}=]{1,200})\s*,)?")
_FIELD = re.compile(r"(?<![\w:-])([A-Za-z][\w:+-]{0,60})\s*=\s*")
_BARE = re.compile(r"[\w:+-]*")
# What stands between entries, and what only controls the typesetting.
_NO_ENTRIES = frozenset("comment preamble string ieeetranbstctl control set xdata".split())
_DEEPEST_PARENT = 5
_LONGEST_STRING = 100_000
_PIECE = 1_000_000
_BLOCK_AT_LINE_START = re.compile(r"\n(?=[ \t]*@\w*[ \t]*[{(])")
# A few lines of strings made of strings could fill any memory.
_ROOM_FOR_STRINGS = 20_000_000
# The library tells of each broken block with words of the file; we name them in our own.
logging.getLogger("bibtexparser.splitter").setLevel(logging.CRITICAL + 1)


@dataclass(slots=True)
class Entry:
    """An entry of the file: its fields by lower-case name, values raw but joined and without their marks."""

    kind: str
    key: str
    line: int
    fields: dict[str, str] = field(default_factory=dict)
    # Every value of a field that may stand there several times.
    files: list[str] = field(default_factory=list)


def read(text: str, most: int) -> Library:
    """Return the records of a BibTeX file, at most `most`."""
    library = Library("bibtex")
    entries = list(_Blocks(text, library.problems).entries())
    if len(entries) > most:
        problem = Problem(entries[most].line, "", Code.TOO_LARGE, f"More than {most:,} records.")
        library.problems.append(problem)
    del entries[most:]
    by_key: dict[str, Entry] = {}
    for entry in entries:
        by_key.setdefault(entry.key.lower(), entry)
    for entry in entries:
        inherit(entry, by_key, library.problems)
    for entry in (entry for entry in entries if entry.kind not in _NO_ENTRIES):
        library.records.append(bibtex_fields.draft(entry).finish(library.problems))
    return library


class _Blocks:
    """The blocks of a file, read by bibtexparser, in order."""

    def __init__(self, text: str, problems: list[Problem]) -> None:
        self.text = text
        self.problems = problems
        self.strings: dict[str, str] = {}
        self.room = _ROOM_FOR_STRINGS
        self.is_full = False
        # How far broken blocks have been looked for, and the line that has been reached.
        self.place = self.begin = 0
        self.line = 1

    def entries(self) -> Iterator[Entry]:
        """Yield the entries; name what is broken, repaired or there twice."""
        from bibtexparser import model

        seen: dict[str, int] = {}
        for block, line in _blocks(self.text):
            whole = self._whole(block, line)
            if isinstance(whole, model.String):
                self.strings[whole.key.lower()] = self._value(whole.value, 0, "")
            if not isinstance(whole, model.Entry):
                continue
            entry = self._entry(whole, line)
            if not entry.kind or not (entry.fields or entry.files or entry.key):
                continue
            first = seen.setdefault(entry.key, entry.line)
            if first != entry.line and entry.key:
                self._name(entry.line, entry.key, Code.DUPLICATE_KEY, f"The key stands on line {first} too.")
            yield entry

    def _whole(self, block: Any, line: int) -> Any:
        """Return a block that was read; name one that could not be."""
        from bibtexparser import model

        if not isinstance(block, model.ParsingFailedBlock):
            return block
        if block.ignore_error_block is not None:
            return block.ignore_error_block
        return self._repaired(block, line)

    def _repaired(self, block: Any, line: int) -> Any:
        """Return what can be read of a broken entry up to the next one, or None."""
        raw = block.raw or ""
        self._advance(line)
        start = max(self.text.find(raw, self.place), self.place)
        following = _NEXT_ENTRY.search(self.text, start + 1)
        self.place = start + len(raw) if following is None else min(start + len(raw), following.start())
        head = _ENTRY_HEAD.match(self.text, start)
        key = (head["key"] or "") if head is not None else ""
        if head is not None and head["kind"].lower() not in _NO_ENTRIES:
            end = len(self.text) if following is None else following.start()
            fields = list(repaired_fields(self.text[head.end() : end]))
            if fields:
                message = (
                    f"The entry is broken; read of it: {', '.join(field.key for field in fields)[:300]}."
                )
                self._name(line, key, Code.REPAIRED_ENTRY, message)
                return _as_entry(head["kind"], key, fields)
        self._name(line, key, Code.BROKEN_ENTRY, "The entry is broken; no field of it can be read.")
        return None

    def _advance(self, line: int) -> None:
        """Move on to the beginning of `line`, if that is ahead."""
        while self.line < line and (end := self.text.find("\n", self.begin)) >= 0:
            self.begin = end + 1
            self.line += 1
        self.place = max(self.place, self.begin)

    def _entry(self, block: Any, line: int) -> Entry:
        entry = Entry(block.entry_type.lower(), block.key.strip(), line)
        for item in block.fields:
            name = item.key.rsplit("\n", 1)[-1].strip().lower()
            if not name or name.startswith("%"):
                continue
            if name in bibtex_fields.FILE_FIELDS:
                entry.files.append(self._value(item.value, line, entry.key))
            elif name in bibtex_fields.USED and not entry.fields.get(name, "").strip():
                entry.fields[name] = self._value(item.value, line, entry.key)
        return entry

    def _value(self, raw: str, line: int, key: str) -> str:
        """Return a value without its braces or quotes, its parts joined, its strings put in."""
        if raw[:1] == "{" and raw[-1:] == "}" and "#" not in raw:
            return raw[1:-1]
        parts: list[str] = []
        place, length = 0, 0
        while place < len(raw) and length <= _LONGEST_STRING:
            found = _QUOTED_OR_NAME.match(raw, place)
            if found is None:
                break
            if found[1] is not None:
                part, place = self._string(found[1], line, key), found.end()
            else:
                part, place, _ = _enclosed(raw, found.end() - 1)
            parts.append(part)
            length += len(part)
        return "".join(parts)

    def _string(self, name: str, line: int, key: str) -> str:
        known = self.strings.get(name.lower())
        if known is not None:
            self.room -= len(known)
            if self.room >= 0:
                return known
            if not self.is_full:
                self.is_full = True
                self._name(
                    line, key, Code.TOO_LARGE, "Strings grow too large; from here on they are left out."
                )
            return ""
        if key and not name.isdigit() and name.lower()[:3] not in _MONTHS:
            self._name(line, key, Code.UNDEFINED_STRING, f"The string {name[:60]} is not defined.")
        return name

    def _name(self, line: int, key: str, code: Code, message: str) -> None:
        self.problems.append(Problem(line, tidy_key(key), code, message))


def _blocks(text: str) -> Iterator[tuple[Any, int]]:
    """Yield the blocks with their lines. The text is read in pieces, so that few are in memory at once.

    A piece ends before a line that begins a block: bibtexparser starts anew there itself, whatever is open.
    """
    from bibtexparser.splitter import Splitter

    start, line = 0, 1
    while start < len(text):
        following = _BLOCK_AT_LINE_START.search(text, start + _PIECE)
        end = len(text) if following is None else following.end()
        for block in Splitter(text[start:end]).split().blocks:
            yield block, line + int(block.start_line or 0)
        line += text.count("\n", start, end)
        start = end


def _as_entry(kind: str, key: str, fields: list[Any]) -> Any:
    from bibtexparser.model import Entry as Block

    return Block(entry_type=kind, key=key, fields=fields)


def repaired_fields(text: str) -> Iterator[Any]:
    """Yield the fields that stand whole in the text of a broken entry."""
    from bibtexparser.model import Field

    place = 0
    while found := _FIELD.search(text, place):
        start = found.end()
        if text[start : start + 1] in ("{", '"'):
            _, place, is_whole = _enclosed(text, start)
            if not is_whole:
                return
        else:
            place = start + len(_BARE.match(text, start)[0])  # type: ignore[index]  # matches nothing too
        yield Field(key=found[1], value=text[start:place])


def _enclosed(raw: str, start: int) -> tuple[str, int, bool]:
    """Return what the braces or quotes that open at `start` hold, the place after, whether they close."""
    is_quoted = raw[start] == '"'
    depth = 0
    for found in (_BRACE_OR_QUOTE if is_quoted else _BRACE).finditer(raw, start + is_quoted):
        if found[0] == '"':
            if depth == 0:
                return raw[start + 1 : found.start()], found.end(), True
            continue
        depth += 1 if found[0] == "{" else -1
        if depth == 0 and not is_quoted:
            return raw[start + 1 : found.start()], found.end(), True
    return raw[start + 1 :].removesuffix('"' if is_quoted else "}"), len(raw), False


def inherit(entry: Entry, by_key: dict[str, Entry], problems: list[Problem]) -> None:
    """Fill what `entry` lacks from the entries its crossref and xdata fields name."""
    child, line_of_descent = entry, {entry.key.lower()}
    for _ in range(_DEEPEST_PARENT):
        name = child.fields.get("crossref") or child.fields.get("xdata", "").split(",")[0].strip()
        if not name or name.lower() in line_of_descent:
            return
        parent = by_key.get(name.lower())
        if parent is None:
            message = f"Its parent {tidy_key(name)} is not in the file."
            problems.append(Problem(entry.line, tidy_key(entry.key), Code.MISSING_PARENT, message))
            return
        line_of_descent.add(name.lower())
        bibtex_fields.hand_down(parent, entry)
        child = parent
