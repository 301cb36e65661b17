"""PostgreSQL's own `pg_dump` and `pg_restore`: which one fits the server, and how it is started."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, cast

from django.db import connection

from sci_rag_site.backup.errors import Unfit
from sci_rag_site.database import programs
from sci_rag_site.database.errors import EmbeddedPostgresError

_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")


@dataclass(frozen=True, slots=True)
class Tool:
    """A program of a version."""

    path: Path
    major: int


def fitting(name: str, *, server: int) -> Tool:
    """Return the program `name` for a server of the major version `server`.

    One of the server's own version is best; an older one would leave out what it does not know.
    """
    found = _found(name)
    newer = sorted((tool for tool in found if tool.major >= server), key=lambda tool: tool.major)
    if newer:
        return newer[0]
    versions = ", ".join(str(tool.major) for tool in found) or "none"
    raise Unfit(
        f"The server is PostgreSQL {server}, and {name} here is of version {versions}: install the client "
        f"programs of PostgreSQL {server}, so that {name} is on the path."
    )


def newest(name: str) -> Tool:
    """Return the program `name` of the newest version here."""
    found = _found(name)
    if not found:
        raise Unfit(f"There is no {name} here: install the client programs of PostgreSQL.")
    return max(found, key=lambda tool: tool.major)


@cache
def _found(name: str) -> tuple[Tool, ...]:
    """Return the bundled program and those on the path that run."""
    places = [Path(folder) / name for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    with suppress(EmbeddedPostgresError):
        places.insert(0, programs.bundled() / "bin" / name)
    # Debian keeps each version in a folder of its own; the one on the path only passes on.
    places += sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    tools: dict[int, Tool] = {}
    for place in places:
        major = _major(place) if shutil.which(str(place)) else None
        if major is not None:
            tools.setdefault(major, Tool(place, major))
    return tuple(tools.values())


def _major(place: Path) -> int | None:
    try:
        said = subprocess.run(  # noqa: S603
            [str(place), "--version"], capture_output=True, text=True, check=False, timeout=60,
            env=_environment(""),
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(said.stdout)
    return int(match[1]) if match and said.returncode == 0 else None


@dataclass(slots=True)
class Running:
    """A program at work. What it says goes to a file: a full pipe would stop it while it is being fed."""

    process: subprocess.Popen[bytes]
    said: IO[bytes]

    @property
    def source(self) -> IO[bytes]:
        """What it writes."""
        return cast("IO[bytes]", self.process.stdout)

    @property
    def sink(self) -> IO[bytes]:
        """What it reads."""
        return cast("IO[bytes]", self.process.stdin)

    def failure(self) -> str:
        """Wait for its end; return the first error it told, nothing when it ended well."""
        if self.process.wait() == 0:
            return ""
        self.said.seek(0)
        lines = self.said.read(1_000_000).decode(errors="replace").strip().splitlines()
        errors = [line.partition("error: ")[2] for line in lines if "error: " in line]
        return (errors or lines or ["no message"])[0][:300]


@contextmanager
def running(
    tool: Tool, *arguments: str, password: str, fed: bool = False, output: IO[bytes] | int | None = None
) -> Iterator[Running]:
    """Run a program within the block and no longer. Its password is not among its arguments."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603
            [str(tool.path), *arguments],
            stdin=subprocess.PIPE if fed else subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if output is None else output,
            stderr=said,
            env=_environment(password),
            cwd="/",
            umask=0o077,
            start_new_session=True,
        )
        try:
            yield Running(process, said)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()


def address() -> tuple[str, str]:
    """Return how to reach the site's database without the password, and the password."""
    connection.ensure_connection()
    info = connection.connection.info
    return info.dsn, info.password


def _environment(password: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}
    return {**kept, "LC_ALL": "C", "TZ": "UTC", **({"PGPASSWORD": password} if password else {})}
