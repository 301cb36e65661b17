"""A ZIP with a library and its files, unpacked into a folder of our own, within limits. No database.

Nothing of the archive decides where a byte is written: names are taken apart and checked, links and devices
are never made, and sizes are counted as they arrive, whatever the archive declares.
"""

from __future__ import annotations

import lzma
import stat
import zipfile
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from corpus.normalise import legible_name
from corpus.parsing.media_types import BY_EXTENSION
from corpus.parsing.zip_directory import END, directory_of

LIBRARY_EXTENSIONS = (".rdf", ".bib", ".bibtex", ".biblatex", ".ris", ".json", ".csv")
# Files of these kinds may as well be data that belongs to a work.
_AMBIGUOUS = (".json", ".csv")
MOST_PARTS = 20_000
_LARGEST_DIRECTORY = 8_000_000
_HIGHEST_RATIO = 100
# A few small files of the same characters are no bomb.
_HARMLESS = 20_000_000
_DEEPEST = 20
_LONGEST_NAME = 255
_CHUNK = 1 << 18
_ENCRYPTED = 0x1
_NAME_IS_UTF8 = 0x800
_DAMAGED = (zipfile.BadZipFile, EOFError, ValueError, RuntimeError, zlib.error, lzma.LZMAError)


class Unusable(Exception):
    """The archive cannot be taken in as a whole. The message says why, `code` stays the same for scripts."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class RefusedPart:
    """A file of the archive that was not unpacked."""

    name: str
    code: str
    message: str


@dataclass(slots=True)
class Unpacked:
    """Where the library is, and what was refused: by its place in the folder where it has one, else loose."""

    library: Path
    refused: dict[Path, RefusedPart] = field(default_factory=dict)
    loose: list[RefusedPart] = field(default_factory=list)


def is_archive(path: Path) -> bool:
    """Say whether a file begins like a ZIP archive."""
    with path.open("rb") as file:
        return file.read(4) in (b"PK\x03\x04", END)


def unpack(archive: Path, folder: Path, *, largest_file: int, most_bytes: int) -> Unpacked:
    """Unpack `archive` into the empty `folder`; raise `Unusable` for one that holds no library or is a trap.

    Only what may be a library or a document is unpacked. Anything else, and a file that was refused, leaves
    an empty file in its place, so that a record that names it can be told the reason.
    """
    _bound_directory(archive)
    root = folder.resolve()
    try:
        with zipfile.ZipFile(archive) as opened:
            parts = _parts(opened)
            _bound(parts, most_bytes)
            result = Unpacked(root)
            budget = _Budget(most_bytes)
            for name, part in parts:
                _unpack_part(opened, name, part, _Target(root, result, budget, largest_file))
    except (zipfile.BadZipFile, EOFError, UnicodeDecodeError, NotImplementedError) as error:
        raise Unusable("damaged", "The ZIP archive is damaged.") from error
    except OSError as error:
        raise Unusable(
            "unreadable", f"The ZIP cannot be unpacked: {error.strerror or 'it is no file'}."
        ) from error
    result.library = _library(root, [name for name, _ in parts], result)
    return result


def _bound_directory(archive: Path) -> None:
    """Refuse a list of parts that takes much memory merely to be read."""
    directory = directory_of(archive)
    if directory is None:
        raise Unusable("damaged", "The ZIP archive is cut off.")
    if directory.is_wide or directory.size > _LARGEST_DIRECTORY:
        raise Unusable("unsafe_archive", f"The ZIP holds more than {MOST_PARTS:,} files, or says so.")


def _parts(archive: zipfile.ZipFile) -> list[tuple[str, zipfile.ZipInfo]]:
    """Return the files of the archive with their names; folders and what systems add are left out."""
    named = [(_name(part), part) for part in archive.infolist() if not part.is_dir()]
    if len(named) > MOST_PARTS:
        raise Unusable("unsafe_archive", f"The ZIP holds more than {MOST_PARTS:,} files.")
    return [(name, part) for name, part in named if not _is_furniture(name)]


def _name(part: zipfile.ZipInfo) -> str:
    """Return the name of a part. Some programs write UTF-8 without saying so."""
    name = part.filename
    if not part.flag_bits & _NAME_IS_UTF8:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")


def _is_furniture(name: str) -> bool:
    return name.startswith("__MACOSX/") or PurePosixPath(name).name in (
        ".DS_Store",
        "Thumbs.db",
        "desktop.ini",
    )


def _bound(parts: list[tuple[str, zipfile.ZipInfo]], most_bytes: int) -> None:
    """Refuse an archive by what it declares."""
    if any(part.flag_bits & _ENCRYPTED for _, part in parts):
        raise Unusable("encrypted", "The ZIP is encrypted; pack it without a password.")
    wanted = [part for name, part in parts if _is_wanted(name)]
    unpacked = sum(part.file_size for part in wanted)
    packed = sum(part.compress_size for part in wanted)
    if unpacked > _HARMLESS and unpacked > _HIGHEST_RATIO * max(packed, 1):
        raise Unusable("unsafe_archive", f"The ZIP unpacks to more than {_HIGHEST_RATIO} times its size.")
    if unpacked > most_bytes:
        raise _too_much(most_bytes)


def _too_much(most_bytes: int) -> Unusable:
    message = (
        f"The ZIP unpacks to more than {most_bytes // 1_000_000:,} MB. Send it in parts, or use"
        " `sci-rag corpus import` on the server."
    )
    return Unusable("too_large", message)


def _is_wanted(name: str) -> bool:
    extension = PurePosixPath(name).suffix.lower()
    return extension in BY_EXTENSION or extension in LIBRARY_EXTENSIONS


@dataclass(slots=True)
class _Budget:
    """How many bytes may still be written."""

    left: int

    def take(self, count: int) -> None:
        """Count bytes that are about to be written; raise `Unusable` when they are too many."""
        self.left -= count
        if self.left < 0:
            raise Unusable("unsafe_archive", "The ZIP unpacks to more than it declares.")


@dataclass(frozen=True, slots=True)
class _Target:
    root: Path
    result: Unpacked
    budget: _Budget
    largest_file: int

    def refuse(self, name: str, code: str, message: str, *, place: Path | None = None) -> None:
        """Note a refusal, with an empty file in its place where it has one."""
        part = RefusedPart(legible_name(name)[:300], code, message)
        if place is None:
            self.result.loose.append(part)
            return
        place.write_bytes(b"")
        self.result.refused[place] = part


def _unpack_part(archive: zipfile.ZipFile, name: str, part: zipfile.ZipInfo, target: _Target) -> None:
    place = _place(name, target)
    if place is None:
        return
    kind = stat.S_IFMT(part.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        target.refuse(name, "unsafe_archive", "It is a link or a device, not a file.", place=place)
    elif not _is_wanted(name):
        place.write_bytes(b"")
    elif part.file_size > target.largest_file:
        limit = f"{target.largest_file // 1_000_000:,} MB"
        target.refuse(name, "too_large", f"It is larger than {limit}, the limit of this site.", place=place)
    else:
        _write(archive, part, place, target)


def _place(name: str, target: _Target) -> Path | None:
    """Return where a part goes, its folder made; refuse a name that leads out or that no file can have."""
    pieces = name.split("/")
    if name.startswith("/") or ":" in pieces[0] or ".." in pieces:
        target.refuse(name, "outside_folder", "Its name leads out of the ZIP.")
        return None
    kept = [piece for piece in pieces if piece not in ("", ".")]
    too_long = any(len(piece.encode("utf-8", "replace")) > _LONGEST_NAME for piece in kept)
    if not kept or too_long or len(kept) > _DEEPEST:
        target.refuse(name, "unsafe_archive", "Its name is too long or too deep.")
        return None
    place = target.root.joinpath(*kept)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists():
            target.refuse(name, "duplicate_path", "Another file of the ZIP has the same name.")
            return None
    except (OSError, ValueError):
        target.refuse(name, "unsafe_archive", "No file can have its name.")
        return None
    return place


def _write(archive: zipfile.ZipFile, part: zipfile.ZipInfo, place: Path, target: _Target) -> None:
    try:
        with archive.open(part) as source, place.open("xb") as copy:
            while block := source.read(_CHUNK):
                target.budget.take(len(block))
                copy.write(block)
    except OSError as error:
        # Decompressors raise these too, without a number; those with one are the disk's.
        if error.errno is not None:
            raise
        target.refuse(part.filename, "damaged", "It is damaged inside the ZIP.", place=place)
    except _DAMAGED:
        target.refuse(part.filename, "damaged", "It is damaged inside the ZIP.", place=place)


def _library(root: Path, names: list[str], result: Unpacked) -> Path:
    """Return the library: the only one of its kind in the topmost folder that has any."""
    found = [path for path in map(PurePosixPath, names) if path.suffix.lower() in LIBRARY_EXTENSIONS]
    usable = [path for path in found if _is_unpacked(root / path, result)]
    if not usable:
        kinds = ", ".join(LIBRARY_EXTENSIONS)
        raise Unusable("no_library", f"The ZIP holds no library: no file that ends in {kinds}.")
    top = min(len(path.parts) for path in usable)
    highest = [path for path in usable if len(path.parts) == top]
    chosen = [path for path in highest if path.suffix.lower() not in _AMBIGUOUS] or highest
    if len(chosen) > 1:
        listed = ", ".join(legible_name(str(path))[:100] for path in chosen[:5])
        raise Unusable("several_libraries", f"The ZIP holds several libraries: {listed}. Leave one in.")
    return root / chosen[0]


def _is_unpacked(path: Path, result: Unpacked) -> bool:
    return path not in result.refused and path.is_file() and path.stat().st_size > 0
