"""What an Office document's ZIP archive declares and holds, looked at before any library opens it."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from xml.parsers import expat

from corpus.normalise import one_line
from corpus.parsing.blocks import ParseFailure
from corpus.parsing.media_types import DOCX, PPTX, XLSX, name_of
from corpus.parsing.zip_directory import directory_of

_MEGABYTE = 1_000_000
_MOST_PARTS = 5_000
_LARGEST_DIRECTORY = 4 * _MEGABYTE
_MOST_UNPACKED = 512 * _MEGABYTE
# A few small parts of the same characters are no bomb.
_HARMLESS = 4 * _MEGABYTE
_HIGHEST_RATIO = 100
_LONGEST_FACTS = _MEGABYTE
# Readers of XML stop a little deeper.
_DEEPEST = 240
_CHUNK = 1 << 18
_ENCRYPTED = 0x1
_MAIN_PARTS = {
    "wordprocessingml.document.main": DOCX,
    "presentationml.presentation.main": PPTX,
    "presentationml.slideshow.main": PPTX,
    "spreadsheetml.sheet.main": XLSX,
}
# Elements whose characters a reader sees: text runs of Word and of drawings.
_RUNS = frozenset({"t"})
_OFF = frozenset({"0", "false", "off", "none"})
_UNSEEN = frozenset({"Fallback", "del", "moveFrom"})
# What programs enter where nobody gave a name.
_PROGRAMS = frozenset({"openpyxl", "python-docx", "microsoft office user", "user", "apache poi", "unknown"})
_COUNTED = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml", "ppt/slides/slide")


@dataclass(frozen=True, slots=True)
class Facts:
    """What the archive states about itself. `characters` are those a reader sees, where that is counted."""

    title: str = ""
    authors: tuple[str, ...] = ()
    language: str = ""
    characters: int = 0


def inspect(path: Path, media_type: str) -> Facts:
    """Return what the archive states; raise ParseFailure for one that no library may open.

    unsafe_archive: too many parts, too much unpacked, names that lead elsewhere, or a document type with
    entities. macros: it carries programs. wrong_signature: another kind of document. encrypted and
    damaged as everywhere.
    """
    _bound_directory(path)
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            _bound(parts)
            _require_kind(archive, media_type)
            characters = sum(_scan(archive, part) for part in parts if _is_xml(part))
            return _facts(archive, characters)
    except (
        zipfile.BadZipFile,
        EOFError,
        NotImplementedError,
        ValueError,
        zlib.error,
        lzma.LZMAError,
    ) as error:
        raise ParseFailure("damaged", "The document's archive is damaged.") from error
    except RuntimeError as error:
        raise ParseFailure("encrypted", "The document is encrypted and needs a password.") from error
    except KeyError as error:
        raise ParseFailure("damaged", "A part of the document is missing.") from error


def _bound_directory(path: Path) -> None:
    """Refuse a list of parts that takes much memory merely to be read."""
    directory = directory_of(path)
    if directory is None:
        raise ParseFailure("damaged", "The document's archive is cut off.")
    # The largest numbers say that the real ones stand in a 64-bit record, which no document needs.
    if directory.parts > _MOST_PARTS or directory.size > _LARGEST_DIRECTORY:
        raise _unsafe(f"The document has more than {_MOST_PARTS:,} parts.")


def _bound(parts: list[zipfile.ZipInfo]) -> None:
    if len(parts) > _MOST_PARTS:
        raise _unsafe(f"The document has more than {_MOST_PARTS:,} parts.")
    if any(part.flag_bits & _ENCRYPTED for part in parts):
        raise ParseFailure("encrypted", "The document is encrypted and needs a password.")
    if any(_leads_elsewhere(part.filename) for part in parts):
        raise _unsafe("The names of the document's parts lead out of it.")
    if len({part.filename for part in parts}) < len(parts):
        raise _unsafe("Two parts of the document have the same name.")
    unpacked = sum(part.file_size for part in parts)
    packed = sum(part.compress_size for part in parts)
    if unpacked > _MOST_UNPACKED:
        raise _unsafe(f"The document unpacks to more than {_MOST_UNPACKED // _MEGABYTE} MB.")
    if unpacked > _HARMLESS and unpacked > _HIGHEST_RATIO * max(packed, 1):
        raise _unsafe(f"The document unpacks to more than {_HIGHEST_RATIO} times its size.")


def _leads_elsewhere(name: str) -> bool:
    return name.startswith(("/", "\\")) or ":" in name or ".." in name.replace("\\", "/").split("/")


def _require_kind(archive: zipfile.ZipFile, media_type: str) -> None:
    """Refuse an archive whose list of content types names another kind of document, or programs."""
    name = name_of(media_type)
    try:
        types = _small_text(archive, "[Content_Types].xml")
    except KeyError:
        raise _wrong(f"The file is named like {name} but is some other ZIP archive.") from None
    if "macroEnabled" in types or any(part.endswith("vbaProject.bin") for part in archive.namelist()):
        raise ParseFailure("macros", "The document carries macros; save it without them.")
    found = {kind for part, kind in _MAIN_PARTS.items() if f"{part}+xml" in types}
    if media_type not in found:
        what = name_of(found.pop()) if found else "some other ZIP archive"
        raise _wrong(f"The file is named like {name} but is {what}.")


def _small_text(archive: zipfile.ZipFile, name: str) -> str:
    with archive.open(name) as part:
        return part.read(_LONGEST_FACTS).decode("utf-8-sig")


def _is_xml(part: zipfile.ZipInfo) -> bool:
    return part.filename.lower().endswith((".xml", ".rels", ".vml"))


def _scan(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> int:
    """Read an XML part once without building it; return how many visible characters its runs hold."""
    scan = _Scan(counts=part.filename.startswith(_COUNTED))
    with archive.open(part) as stream:
        scan.read(stream)
    return scan.characters


@dataclass(slots=True)
class _Scan:
    """A pass over one part. No entity is ever expanded, since no document type may be declared."""

    counts: bool
    characters: int = 0
    _depth: int = 0
    _unseen_below: int = 0
    _run_depth: int = 0
    _is_run: bool = False

    def read(self, stream: IO[bytes]) -> None:
        parser = expat.ParserCreate()
        parser.StartDoctypeDeclHandler = self._refuse_document_type
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        if self.counts:
            parser.CharacterDataHandler = self._text
        try:
            while chunk := stream.read(_CHUNK):
                parser.Parse(chunk, False)  # noqa: FBT003 - the library's signature
            parser.Parse(b"", True)  # noqa: FBT003
        except expat.ExpatError as error:
            raise ParseFailure("damaged", "A part of the document is not well-formed XML.") from error

    def _refuse_document_type(self, *_: object) -> None:
        raise _unsafe("The document declares entities, which Office documents never do.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ParseFailure("nested_too_deep", f"The document is nested more than {_DEEPEST} levels deep.")
        if not self.counts:
            return
        local = name.rpartition(":")[2]
        if local == "r":
            self._run_depth = self._depth
        is_hidden = local == "vanish" and not _OFF.intersection(attributes.values())
        if not self._unseen_below and (local in _UNSEEN or is_hidden):
            self._unseen_below = self._run_depth if is_hidden else self._depth
        self._is_run = local in _RUNS and not self._unseen_below

    def _end(self, _name: str) -> None:
        if self._depth == self._unseen_below:
            self._unseen_below = 0
        self._depth -= 1
        self._is_run = False

    def _text(self, text: str) -> None:
        if self._is_run:
            self.characters += len("".join(text.split()))


def _facts(archive: zipfile.ZipFile, characters: int) -> Facts:
    """Return the title, authors and language of the document's core properties."""
    if "docProps/core.xml" not in archive.namelist():
        return Facts(characters=characters)
    values: dict[str, str] = {}
    current: list[str] = []

    def start(name: str, _attributes: dict[str, str]) -> None:
        current[:] = [name.rpartition(":")[2]]

    def text(words: str) -> None:
        if current:
            values[current[0]] = values.get(current[0], "") + words

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.CharacterDataHandler = start, text
    parser.EndElementHandler = lambda _name: current.clear()
    with archive.open("docProps/core.xml") as part:
        parser.Parse(part.read(_LONGEST_FACTS), True)  # noqa: FBT003
    names = [one_line(name) for name in values.get("creator", "").split(";")]
    return Facts(
        title=one_line(values.get("title", "")),
        authors=tuple(name for name in names if name and name.lower() not in _PROGRAMS),
        language=one_line(values.get("language", ""))[:20],
        characters=characters,
    )


def _wrong(message: str) -> ParseFailure:
    return ParseFailure("wrong_signature", message)


def _unsafe(message: str) -> ParseFailure:
    return ParseFailure("unsafe_archive", message)
