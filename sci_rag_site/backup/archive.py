"""The file of a backup: a tar of a header, the dump in parts, the originals, a manifest and its hash.

It is written and read in one go, so that it needs no room beside itself. Every member has its SHA-256 in the
manifest; what is missing or differs is told before anything is done with the file.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, cast

from sci_rag_site.backup import sealing
from sci_rag_site.backup.errors import (
    BackupError,
    Damaged,
    Foreign,
    Newer,
    PassphraseNeeded,
    Truncated,
)
from sci_rag_site.backup.streams import Readable, Writable

FORMAT: Final = "sci-rag-backup"
VERSION: Final = 1
HEADER: Final = "sci-rag-backup.json"
MANIFEST: Final = "manifest.json"
MANIFEST_HASH: Final = "manifest.sha256"
DATABASE: Final = "database/"
ORIGINALS: Final = "originals/"
PART: Final = 8 << 20
_BLOCK: Final = 1 << 20
_LARGEST_HEADER: Final = 64_000
_LARGEST_MANIFEST: Final = 1_000_000_000

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Member:
    """One member of the file, as the manifest describes it."""

    name: str
    size: int
    sha256: str


class Writer:
    """Add members to a backup that is being written."""

    def __init__(self, target: Writable, header: dict[str, Any], progress: Progress) -> None:
        self._outlet = _Outlet(target)
        self._tar = tarfile.open(  # noqa: SIM115
            fileobj=cast("IO[bytes]", self._outlet), mode="w|", bufsize=_BLOCK, format=tarfile.GNU_FORMAT
        )
        self._progress = progress
        self.members: list[Member] = []
        self.add_bytes(HEADER, _as_json({"format": FORMAT, "version": VERSION, **header}))

    def add_bytes(self, name: str, content: bytes) -> None:
        """Add a member that is in memory."""
        self._add(name, len(content), io.BytesIO(content))

    def add_stream(self, prefix: str, source: Readable) -> int:
        """Add what `source` yields until it ends, in parts; return how many bytes that was."""
        total = number = 0
        while part := source.read(PART):
            number += 1
            total += len(part)
            self.add_bytes(f"{prefix}{number:06}", part)
        return total

    def add_file(self, name: str, file: Readable, size: int) -> Member:
        """Add a file of `size` bytes."""
        return self._add(name, size, file)

    def _add(self, name: str, size: int, source: Readable) -> Member:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = size, 0o600
        counted = _Hashed(source, self._progress)
        self._tar.addfile(entry, cast("IO[bytes]", counted))
        self.members.append(Member(name, size, counted.sha256))
        return self.members[-1]

    def finish(self, manifest: dict[str, Any]) -> None:
        """Write the manifest with all members, and its hash, as the last things."""
        members = [[one.name, one.size, one.sha256] for one in self.members]
        content = _as_json({**manifest, "members": members})
        self.add_bytes(MANIFEST, content)
        self.add_bytes(MANIFEST_HASH, hashlib.sha256(content).hexdigest().encode())
        self._tar.close()

    def abandon(self) -> None:
        """Write nothing any more: a tar that is thrown away would still end itself."""
        self._outlet.is_open = False


class _Outlet:
    """Where a tar is written to, as long as it is wanted."""

    def __init__(self, target: Writable) -> None:
        self._target = target
        self.is_open = True

    def write(self, data: bytes) -> None:
        if self.is_open:
            self._target.write(data)


class _Hashed:
    """Reads a source and hashes what passes."""

    def __init__(self, source: Readable, progress: Progress) -> None:
        self._source, self._progress = source, progress
        self._digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        piece = self._source.read(size)
        self._digest.update(piece)
        self._progress(len(piece))
        return piece

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()


@contextmanager
def writing(
    target: Writable, header: dict[str, Any], *, passphrase: bytes | None, progress: Progress
) -> Iterator[Writer]:
    """Yield what adds members to `target`, sealed where there is a passphrase."""
    sealed = None if passphrase is None else sealing.SealedWriter(target, passphrase)
    writer = Writer(target if sealed is None else sealed, header, progress)
    try:
        yield writer
    finally:
        writer.abandon()
    if sealed is not None:
        sealed.finish()


@dataclass(frozen=True, slots=True)
class Found:
    """One member as it is met: read it before asking for the next."""

    name: str
    size: int
    content: Readable


class Reader:
    """A backup that is read from its first byte to its last."""

    def __init__(self, source: Readable) -> None:
        self._source = source
        self._met: dict[str, tuple[int, str]] = {}
        self.header: dict[str, Any] = {}
        self.manifest: dict[str, Any] = {}

    def members(self) -> Iterator[Found]:
        """Yield the members of database and originals; afterwards the manifest is there and agrees.

        Raises `Foreign`, `Newer`, `Truncated` or `Damaged`. What a caller does with a member before the end
        it must be able to undo: whether the member is the one that was written is certain at the end.
        """
        entries = self._entries()
        self._read_header(entries)
        for entry, content in entries:
            if entry.name == MANIFEST:
                self._read_manifest(entry, content, entries)
                self._require_end(entries)
                return
            if not entry.name.startswith((DATABASE, ORIGINALS)) or not entry.isreg():
                raise Damaged("The backup holds something that no backup holds.")
            hashed = _Hashed(content, lambda _count: None)
            yield Found(entry.name, entry.size, hashed)
            while hashed.read(_BLOCK):
                pass
            self._met[entry.name] = (entry.size, hashed.sha256)
        raise Truncated("The backup breaks off or was changed: its list of contents is not found.")

    def _entries(self) -> Iterator[tuple[tarfile.TarInfo, Readable]]:
        try:
            with tarfile.open(
                fileobj=cast("IO[bytes]", self._source), mode="r|", bufsize=_BLOCK, errorlevel=2
            ) as tar:
                for entry in tar:
                    file = tar.extractfile(entry)
                    yield entry, _Whole(file, entry.size)
        except tarfile.TarError as error:
            if not self.header:
                raise Foreign("This is not a backup of sci-rag.") from None
            if "unexpected end" in str(error):
                raise Truncated("The backup breaks off.") from None
            raise Damaged("The backup was changed after it was made.") from None

    def _read_header(self, entries: Iterator[tuple[tarfile.TarInfo, Readable]]) -> None:
        entry, content = next(entries, (None, None))
        if entry is None or content is None or entry.name != HEADER or entry.size > _LARGEST_HEADER:
            raise Foreign("This is not a backup of sci-rag.")
        header = _from_json(content.read())
        if header.get("format") != FORMAT or not isinstance(header.get("version"), int):
            raise Foreign("This is not a backup of sci-rag.")
        if header["version"] > VERSION:
            raise Newer(
                f"The backup was made by a newer sci-rag ({header.get('sci_rag', 'unknown')}). Restore it "
                "with that version."
            )
        self.header = header

    def _read_manifest(
        self,
        entry: tarfile.TarInfo,
        content: Readable,
        entries: Iterator[tuple[tarfile.TarInfo, Readable]],
    ) -> None:
        if entry.size > _LARGEST_MANIFEST:
            raise Damaged("The list of contents is too large to be one.")
        written = content.read()
        entry_of_hash, content_of_hash = next(entries, (None, None))
        if entry_of_hash is None or content_of_hash is None or entry_of_hash.name != MANIFEST_HASH:
            raise Truncated("The backup breaks off after its list of contents.")
        if content_of_hash.read(64).decode("ascii", "replace") != hashlib.sha256(written).hexdigest():
            raise Damaged("The list of contents was changed after it was made.")
        manifest = _from_json(written)
        self._compare(manifest)
        self.manifest = manifest

    def _compare(self, manifest: dict[str, Any]) -> None:
        """Compare what was met with what was written."""
        listed = {name: (size, sha256) for name, size, sha256 in manifest.pop("members") if name != HEADER}
        for name, expected in listed.items():
            if name not in self._met:
                raise Damaged(f"{name} is missing from the backup.")
            if self._met[name] != expected:
                raise Damaged(f"{name} was changed after the backup was made.")
        if extra := set(self._met) - set(listed):
            raise Damaged(f"{min(extra)} came into the backup after it was made.")

    def _require_end(self, entries: Iterator[tuple[tarfile.TarInfo, Readable]]) -> None:
        if next(entries, None) is not None:
            raise Damaged("Something was added to the backup after it was made.")


class _Whole:
    """Reads a member and notices when it ends too early, which a tar read as a stream may not say."""

    def __init__(self, source: Readable | None, size: int) -> None:
        self._source, self._left = source, size

    def read(self, size: int = -1) -> bytes:
        if self._source is None or self._left == 0:
            return b""
        try:
            piece = self._source.read(self._left if size < 0 else min(size, self._left))
        except tarfile.TarError:
            piece = b""
        if not piece:
            raise Truncated("The backup breaks off.")
        self._left -= len(piece)
        return piece if size >= 0 or self._left == 0 else piece + self.read()


@contextmanager
def reading(path: Path, *, passphrase: bytes | None, progress: Progress) -> Iterator[Reader]:
    """Yield what reads the backup at `path`, opened with the passphrase where it is sealed."""
    with _opened(path) as file:
        counted: Readable = _Counted(file, progress)
        begins = counted.read(len(sealing.MAGIC))
        if begins == sealing.MAGIC:
            if passphrase is None:
                raise PassphraseNeeded(
                    "The backup is sealed. Name the file of its passphrase with --passphrase-file."
                )
            source: Readable = io.BufferedReader(sealing.SealedReader(counted, passphrase), _BLOCK)
        else:
            source = _After(begins, counted)
        yield Reader(source)


def is_sealed(path: Path) -> bool:
    """Say whether a passphrase is needed to read the file."""
    with _opened(path) as file:
        return file.read(len(sealing.MAGIC)) == sealing.MAGIC


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise BackupError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise Foreign(f"{path} is a folder, not a backup.") from None


class _Counted:
    """Reads a file and says how much of it was read."""

    def __init__(self, source: Readable, progress: Progress) -> None:
        self._source, self._progress = source, progress

    def read(self, size: int = -1) -> bytes:
        piece = self._source.read(size)
        self._progress(len(piece))
        return piece


class _After:
    """Reads `first`, then `rest`."""

    def __init__(self, first: bytes, rest: Readable) -> None:
        self._first, self._rest = first, rest

    def read(self, size: int = -1) -> bytes:
        if not self._first:
            return self._rest.read(size)
        piece, self._first = (self._first, b"") if size < 0 else (self._first[:size], self._first[size:])
        return piece + self._rest.read() if size < 0 else piece


def _as_json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str).encode()


def _from_json(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except ValueError:
        raise Damaged("A part of the backup cannot be read.") from None
    if not isinstance(value, dict):
        raise Damaged("A part of the backup cannot be read.")
    return value
