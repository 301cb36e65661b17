"""One data directory: make it, configure it, find its server, start and stop it.

Nothing here is safe against another process doing the same; `embedded_postgres` holds the lock.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from sci_rag_site.database import sockets
from sci_rag_site.database.account import Account, require_a_name, write_as
from sci_rag_site.database.errors import EmbeddedPostgresError, explained, no_space
from sci_rag_site.database.programs import Programs

_HAS_PROC = Path("/proc/self/cmdline").exists()

SUPERUSER = "sci_rag"
# No system gives a process this number, so a pid file that holds it is stale wherever it is read.
NO_PROCESS = 2**30
START_TIMEOUT = 300
ORPHANS_TIMEOUT = 30
LARGEST_LOG = 10_000_000


@dataclass(frozen=True, slots=True)
class Postmaster:
    """A running server, as its pid file describes it."""

    pid: int
    socket_directory: Path


class Cluster:
    """The data directory of one server."""

    def __init__(self, *, home: Path, account: Account | None) -> None:
        self.home = home
        self.data = home / "data"
        self.account = account
        self.programs = Programs(home=home, account=account)

    @property
    def log(self) -> Path:
        return self.data / "server.log"

    def create_if_missing(self, password: str) -> None:
        """Run initdb to the side and move the result into place, so that `data` is always whole."""
        for unfinished in self.home.glob("initdb.*"):
            shutil.rmtree(unfinished, ignore_errors=True)
        if self.data.exists() and any(self.data.iterdir()):
            self._require_whole()
            return
        require_a_name()
        if shutil.disk_usage(self.home).free < 100_000_000:
            raise no_space(self.home)
        workshop = Path(tempfile.mkdtemp(prefix="initdb.", dir=self.home))
        try:
            self._initdb(workshop, password)
            if self.data.exists():
                self.data.rmdir()
            (workshop / "data").rename(self.data)
        finally:
            shutil.rmtree(workshop, ignore_errors=True)

    def _initdb(self, workshop: Path, password: str) -> None:
        password_file = workshop / "password"
        password_file.touch(mode=0o600)
        password_file.write_text(password)
        if self.account is not None:
            self.account.own(password_file)
            self.account.own(workshop)
        result = self.programs.run(
            "initdb",
            f"--pgdata={workshop / 'data'}",
            f"--username={SUPERUSER}",
            f"--pwfile={password_file}",
            "--encoding=UTF8",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--locale=C",
            "--auth=scram-sha-256",
        )
        if result.returncode:
            raise self._failure("PostgreSQL could not set up its data directory", result.stdout)

    def _require_whole(self) -> None:
        with explained(self.data):
            version_file = self.data / "PG_VERSION"
            found = version_file.read_text().strip() if version_file.exists() else ""
        if not found or not (self.data / "global" / "pg_control").exists():
            raise EmbeddedPostgresError(
                f"{self.data} is not a whole PostgreSQL data directory. Restore it from a backup, or move it "
                "away to begin with an empty database."
            )
        if found != self.programs.major:
            raise EmbeddedPostgresError(
                f"The database in {self.data} was made by PostgreSQL {found}; the bundled "
                f"server is {self.programs.major}. Carry it over: start it with {found} "
                "(of your system, or the release of embedded-postgres it was made with) run "
                f"'pg_dumpall --file=dump.sql', move {self.data} away, start again, 'psql --file=dump.sql'."
            )

    def configure(self, socket_directory: Path) -> None:
        """Write the settings that are ours; `ALTER SYSTEM` still overrides them."""
        directory = str(socket_directory).replace('"', '""').replace("'", "''")
        settings = {
            "listen_addresses": "''",
            "unix_socket_directories": f"""'"{directory}"'""",
            "unix_socket_permissions": "0700",
            "port": str(sockets.PORT),
            "max_connections": "100",
            "shared_buffers": f"{_shared_buffers_mb()}MB",
            "dynamic_shared_memory_type": _dynamic_shared_memory(),
            # Failed statements quote questions and passages: neither they nor their details are logged.
            "log_min_messages": "log",
            "log_min_error_statement": "panic",
            "log_error_verbosity": "terse",
        }
        text = "".join(f"{name} = {value}\n" for name, value in settings.items())
        write_as(self.account, self.data / "sci_rag.conf", f"# Written at every start by sci-rag.\n{text}")
        main = self.data / "postgresql.conf"
        include = "include = 'sci_rag.conf'\n"
        if include not in main.read_text():
            write_as(self.account, main, main.read_text() + include)

    def postmaster(self) -> Postmaster | None:
        """Return the living server of this directory; a pid file alone is no proof of one."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
            found = Postmaster(abs(int(lines[0])), Path(lines[4]))
        except (FileNotFoundError, ValueError, IndexError):
            return None
        # The socket also answers where the pid does not: from a container that shares the directory.
        if str(self.data) in command_of(found.pid) or sockets.answers(found.socket_directory):
            return found
        return None

    def forget_dead_server(self, socket_directory: Path) -> None:
        """Clear up after a server that was killed, even where its pid now belongs to another process."""
        if sockets.answers(socket_directory):
            raise EmbeddedPostgresError(
                f"Another server already answers on {sockets.socket_file(socket_directory)}. Stop it, or set "
                "SCI_RAG_VAR_DIR to another directory."
            )
        sockets.clear(socket_directory)
        pid_file = self.data / "postmaster.pid"
        if pid_file.exists():
            # The rest of the file stays: by it the next server finds out whether backends of the last live.
            _, _, rest = pid_file.read_text().partition("\n")
            write_as(self.account, pid_file, f"{NO_PROCESS}\n{rest}")

    def start(self, socket_directory: Path) -> None:
        """Start the server and wait until it accepts connections."""
        with explained(self.data):
            self.configure(socket_directory)
            if self.log.exists() and self.log.stat().st_size > LARGEST_LOG:
                self.log.replace(self.log.with_suffix(".log.1"))
        deadline = time.monotonic() + ORPHANS_TIMEOUT
        while True:
            logged = self.log.stat().st_size if self.log.exists() else 0
            result = self.programs.run(
                "pg_ctl", "start", "-D", str(self.data), "-l", str(self.log), "-w", "-t", str(START_TIMEOUT),
                timeout=START_TIMEOUT + 30,
            )  # fmt: skip
            if result.returncode == 0:
                return
            said = result.stdout + self._logged_since(logged)
            if "pre-existing shared memory block" not in said or time.monotonic() > deadline:
                raise self._failure("PostgreSQL did not start", said)
            self._end_orphans()
            time.sleep(0.2)

    def _end_orphans(self) -> None:
        """Ask the backends of a killed server to stop: until they do, no other may start."""
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                orphaned = (entry / "cwd").readlink() == self.data
            except OSError:
                continue
            if orphaned:
                subprocess.run(["/bin/kill", entry.name], check=False, capture_output=True)  # noqa: S603

    def _logged_since(self, size: int) -> str:
        try:
            with self.log.open("rb") as log:
                log.seek(size)
                return log.read(20_000).decode(errors="replace")
        except OSError:
            return ""

    def stop(self) -> None:
        """Stop the server, if there is one, and wait for it."""
        if self.postmaster() is None:
            return
        self.programs.run("pg_ctl", "stop", "-D", str(self.data), "-m", "fast", "-w", "-t", "60")

    def _failure(self, what: str, said: str) -> EmbeddedPostgresError:
        if "No space left on device" in said or "Disk quota exceeded" in said:
            return no_space(self.data)
        reasons = re.findall(r"(?:FATAL|PANIC|error):\s+(.+)", said) or [said.strip()[-500:]]
        return EmbeddedPostgresError(f"{what}: {reasons[-1].strip()} (log: {self.log})")


def lives(pid: int) -> bool:
    """Say whether the process is there and no zombie. Cheap: asked for each database connection."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    if not _HAS_PROC:
        return True
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:  # noqa: PTH123 - a path of pathlib takes thrice as long
            return stat.read().rpartition(b") ")[2][:1] not in b"ZX"
    except OSError:
        return False


def command_of(pid: int) -> tuple[str, ...]:
    """Return the words of a process's command line; nothing for one that is dead, even if not yet reaped."""
    if _HAS_PROC:
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return ()
        return tuple(word.decode(errors="replace") for word in words.split(b"\0") if word)
    listing = subprocess.run(  # noqa: S603
        ["/bin/ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    before, _, directory = listing.stdout.strip().partition(" -D ")
    return (before, directory) if before else ()


def _shared_buffers_mb() -> int:
    """An eighth of the memory between 32 and 256 MB: a good citizen on a laptop, enough for a lab."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(32, min(256, memory // 8 // 1_000_000))


def _dynamic_shared_memory() -> str:
    """Containers often get 64 MB of /dev/shm, too little for a parallel query: then files do."""
    shared = Path("/dev/shm")  # noqa: S108
    if shared.is_dir() and shutil.disk_usage(shared).total < 256_000_000:
        return "mmap"
    return "posix"
