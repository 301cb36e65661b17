"""Two PostgreSQL servers on 127.0.0.1, a primary and a streaming replica of it, from the bundled programs."""

from __future__ import annotations

import secrets
import socket
from pathlib import Path
from typing import Any

import psycopg

from sci_rag_site.database.account import server_account
from sci_rag_site.database.programs import Programs

ROLE = "site"


class Server:
    """One of the two; the superuser is `postgres`."""

    def __init__(self, programs: Programs, data: Path, password: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.data, self.password, self._programs = data, password, programs

    @property
    def place(self) -> str:
        """Where it is, for the superuser."""
        return f"host=127.0.0.1 port={self.port} user=postgres password={self.password}"

    @property
    def url(self) -> str:
        """The site's database on it, for the site's role."""
        return f"postgres://{ROLE}:{self.password}@127.0.0.1:{self.port}/{ROLE}"

    def run(self, program: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs."""
        done = self._programs.run(program, *arguments)
        assert done.returncode == 0, done.stdout

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        self.run("pg_ctl", "start", "-D", str(self.data), "-l", f"{self.data}.log", "-w", "-o", options)

    def stop(self, how: str = "immediate") -> None:
        if (self.data / "postmaster.pid").exists():
            self.run("pg_ctl", "stop", "-D", str(self.data), "-m", how, "-w")

    def rows(self, statement: str, database: str = ROLE) -> list[tuple[Any, ...]]:
        """Run a statement as the superuser."""
        with psycopg.connect(f"{self.place} dbname={database}", autocommit=True) as session:
            cursor = session.execute(statement)
            return cursor.fetchall() if cursor.description else []


class Pair:
    """A primary with a role that may make its own tables and no more, and its replica. Ended by `close`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o755)
        account = server_account(folder / "data")
        if account is not None:
            account.own(folder)
        password = secrets.token_urlsafe(16)
        programs = Programs(home=folder, account=account)
        self.primary = Server(programs, folder / "primary", password)
        self.replica = Server(programs, folder / "replica", password)
        self._make_primary(folder / "password", account)
        self.primary.run(
            "pg_basebackup", "-d", self.primary.place, "-D", str(self.replica.data), "-R", "-X", "stream",
            "-c", "fast",
        )  # fmt: skip
        self.replica.start()

    def _make_primary(self, kept: Path, account: Any) -> None:
        kept.write_text(self.primary.password)
        kept.chmod(0o600)
        if account is not None:
            account.own(kept)
        self.primary.run(
            "initdb", "-D", str(self.primary.data), "-U", "postgres", f"--pwfile={kept}", "--encoding=UTF8",
            "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--auth=scram-sha-256",
        )  # fmt: skip
        self.primary.start()
        self.primary.rows(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{self.primary.password}'", "postgres")
        self.primary.rows(f"CREATE DATABASE {ROLE} OWNER {ROLE}", "postgres")
        for extension in ("vector", "pg_trgm", "unaccent"):
            self.primary.rows(f"CREATE EXTENSION {extension}")

    def close(self) -> None:
        """Stop both."""
        self.replica.stop()
        self.primary.stop()
