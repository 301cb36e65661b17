"""Whether a file is a whole backup that can be restored here, found out without touching anything."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from django.db import connection
from django.db.migrations.loader import MigrationLoader

from sci_rag_site.backup import archive, programs
from sci_rag_site.backup.errors import BackupError, Damaged, Newer, Unfit

# What the restore leaves out: extensions are made beforehand, by whoever may.
_LEFT_OUT = (" EXTENSION ", " COMMENT - EXTENSION ")


@dataclass(frozen=True, slots=True)
class Checked:
    """A backup that was read from its first byte to its last."""

    path: Path
    size: int
    header: dict[str, Any]
    manifest: dict[str, Any]
    # What `pg_restore` is to do, in its own words.
    contents: str

    @property
    def originals(self) -> int:
        """Return how many bytes of originals it holds."""
        return int(self.manifest["originals_size"])


def check(path: Path, *, passphrase: bytes | None, progress: archive.Progress) -> Checked:
    """Read the whole of a backup; return what it says of itself.

    Raises `Foreign`, `Newer`, `Truncated`, `Damaged`, `PassphraseNeeded` or `WrongPassphrase`.
    """
    size = originals = 0
    tool = programs.newest("pg_restore")
    with archive.reading(path, passphrase=passphrase, progress=progress) as reader, _Listing(tool) as listing:
        for member in reader.members():
            if member.name.startswith(archive.DATABASE):
                listing.feed(member.content)
            else:
                originals += member.size
            size += member.size
        contents = listing.contents()
    manifest = reader.manifest | {"originals_size": originals}
    return Checked(path, path.stat().st_size, reader.header, manifest, contents)


class _Listing:
    """Has `pg_restore` list what a dump contains, from its first bytes."""

    def __init__(self, tool: programs.Tool) -> None:
        self._tool = tool

    def __enter__(self) -> _Listing:
        self._output: IO[bytes] = tempfile.TemporaryFile()
        self._context = programs.running(self._tool, "--list", password="", fed=True, output=self._output)
        self._program = self._context.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._context.__exit__(*error)
        self._output.close()

    def feed(self, part: Any) -> None:
        """Hand a part of the dump over; the program ends when it has seen enough."""
        if self._program.process.poll() is not None:
            return
        with suppress(BrokenPipeError):
            while piece := part.read(1 << 20):
                self._program.sink.write(piece)

    def contents(self) -> str:
        """Return the list, without what is left out. Raises when the program cannot read the dump."""
        with suppress(BrokenPipeError):
            self._program.sink.close()
        if why := self._program.failure():
            if "unsupported version" in why:
                raise Newer(f"The dump in the backup is of a newer PostgreSQL: {why}")
            raise Damaged(f"The dump in the backup cannot be read: {why}")
        self._output.seek(0)
        lines = self._output.read().decode().splitlines()
        return "\n".join(line for line in lines if not any(words in line for words in _LEFT_OUT)) + "\n"


def require_fit(checked: Checked, *, server: int, offered: dict[str, str]) -> None:
    """Raise unless this version and this server can take the backup over."""
    written = checked.manifest["server"] // 10_000
    if server // 10_000 < written:
        raise Unfit(
            f"The backup is of PostgreSQL {written}, and this server is {server // 10_000}: an older server "
            "cannot take it over. Restore it into PostgreSQL "
            f"{written} or newer."
        )
    known = {f"{app}.{name}" for app, name in MigrationLoader(connection).disk_migrations}
    unknown = sorted(set(checked.manifest["migrations"]) - known - _of_squashed())
    if unknown:
        raise Newer(
            f"The backup was made by a newer sci-rag ({checked.header.get('sci_rag', 'unknown')}), whose "
            f"database has {unknown[0]}. Restore it with that version, then update."
        )
    missing = sorted(set(checked.manifest["extensions"]) - set(offered))
    if missing:
        raise Unfit(f"The server does not offer the extension '{missing[0]}': install it and try again.")


def _of_squashed() -> set[str]:
    """Return names that a database may remember though their files were squashed. None so far."""
    return set()


def read_passphrase(path: Path | None) -> bytes | None:
    """Return the first line of a file, which is the passphrase; None where no file is named."""
    if path is None:
        return None
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise BackupError(f"The passphrase cannot be read from {path}: {error.strerror}.") from None
    line = lines[0].strip() if lines else b""
    if len(line) < 12:
        raise BackupError(f"The passphrase in {path} is shorter than twelve characters.")
    return line
