"""Restore a backup into an empty database, and prove that it holds what was backed up.

The order is such that a restore may be killed anywhere: the file is read whole before anything is touched,
the database is filled in one transaction, and a table says that it has not ended until all is proven.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import connection, transaction
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier, Literal

from corpus import storage, whole_files
from corpus.accounts.sessions import PersonSession
from corpus.audit import verifying
from corpus.backups import BackupRun
from corpus.snapshots import one_moment
from sci_rag_site.backup import archive, checking, programs, questions, records, state, unfinished
from sci_rag_site.backup.errors import BackupError, NotEqual, Unfit

ROLE: Final = "sci_rag_restore"
_SPARE: Final = 50_000_000

_DROP_ALL = """
DO $$
DECLARE found record;
BEGIN
    FOR found IN
        SELECT relation.oid::regclass AS name,
            CASE relation.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW'
                WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind
        FROM pg_class AS relation
        WHERE relation.relnamespace = 'public'::regnamespace AND relation.relkind IN ('r', 'p', 'v', 'm', 'S')
            AND relation.relname <> 'sci_rag_restore_unfinished'
            AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass
                AND objid = relation.oid AND deptype IN ('e', 'a', 'i'))
        ORDER BY relation.relkind = 'S'
    LOOP
        EXECUTE format('DROP %s IF EXISTS %s CASCADE', found.kind, found.name);
    END LOOP;
    FOR found IN
        SELECT oid::regprocedure AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace
            AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass
                AND objid = pg_proc.oid AND deptype = 'e')
    LOOP
        EXECUTE format('DROP ROUTINE IF EXISTS %s CASCADE', found.name);
    END LOOP;
END
$$;
"""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Restored:
    """What was restored, and what was found equal to what was backed up."""

    path: Path
    made_at: str
    fingerprint: str
    # Whether it could be compared: with another domain profile or an older version it is another one.
    fingerprint_compared: bool
    documents: int
    passages: int
    tables: int
    rows: int
    originals: int
    questions: int
    links: int


def restore(
    path: Path,
    *,
    passphrase: bytes | None,
    replace: bool,
    by: str,
    say: Say,
    progress: archive.Progress,
) -> Restored:
    """Restore the backup at `path`; raise `BackupError` when it cannot be, or is not what it was.

    Nothing is touched before the whole file was read and fits here. A database that holds anything is
    refused unless it is to be replaced.
    """
    path = path.absolute()
    say("Reading the backup ...")
    checked = checking.check(path, passphrase=passphrase, progress=progress)
    checking.require_fit(checked, server=state.server_version(), offered=_offered())
    _require_place(checked, replace=replace)
    say("Restoring the database ...")
    unfinished.begin(str(path))
    _empty()
    _fill(checked, passphrase=passphrase, progress=progress, say=say)
    say("Comparing what was restored ...")
    restored = _proven(checked)
    _afterwards(checked, restored, by=by)
    unfinished.end()
    return restored


def _offered() -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, default_version FROM pg_available_extensions")
        return dict(cursor.fetchall())


def _require_place(checked: checking.Checked, *, replace: bool) -> None:
    """Raise unless the database may be filled: empty or to be replaced, used by nobody, with room."""
    there = [table for table in state.tables() if not replace or table.schema != "public"]
    if there and not replace and not unfinished.told():
        raise Unfit(
            f"The database is not empty: it has {len(there)} tables. Restore into an empty one, or lose what "
            "is there with --replace."
        )
    if foreign := [table for table in there if table.schema != "public"]:
        raise Unfit(f"The database also holds {foreign[0].label}, which is not of sci-rag: use another.")
    if others := state.other_sessions():
        raise Unfit(f"{others} other sessions use the database. Stop the site and the worker first.")
    _require_room(Path(settings.MEDIA_ROOT), checked.originals, "originals")
    if settings.EMBEDDED_POSTGRES is not None:
        needed = int(checked.manifest["database_size"]) + checked.originals
        _require_room(Path(settings.VAR_DIR), needed, "database")


def _require_room(place: Path, needed: int, what: str) -> None:
    place.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(place).free
    if free < needed + _SPARE:
        raise Unfit(f"The {what} need {needed / 1e6:,.0f} MB, and {place} has {free / 1e6:,.0f} MB left.")


def _empty() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout TO '10s'")
        cursor.execute(_DROP_ALL)


def _fill(
    checked: checking.Checked, *, passphrase: bytes | None, progress: archive.Progress, say: Say
) -> None:
    """Fill database and originals from the file, in one go."""
    tool = programs.fitting(
        "pg_restore", server=max(state.server_version(), checked.manifest["server"]) // 10_000
    )
    _make_extensions(checked.manifest["extensions"])
    with (
        _address() as (where, password),
        tempfile.NamedTemporaryFile("w") as contents,
        archive.reading(checked.path, passphrase=passphrase, progress=progress) as reader,
    ):
        contents.write(checked.contents)
        contents.flush()
        with programs.running(
            tool, "--single-transaction", "--exit-on-error", "--no-owner", "--no-acl",
            f"--use-list={contents.name}", f"--dbname={where}", password=password, fed=True,
        ) as program:  # fmt: skip
            _feed(reader, program, checked, say)


def _feed(reader: archive.Reader, program: programs.Running, checked: checking.Checked, say: Say) -> None:
    filled = False
    for member in reader.members():
        if member.name.startswith(archive.DATABASE):
            _hand_over(member, program)
            continue
        if not filled:
            _end_of_dump(program)
            say("Restoring the originals ...")
            filled = True
        sha256 = member.name.removeprefix(archive.ORIGINALS)
        if sha256 not in checked.manifest["changed"]:
            _keep(member, sha256)
    if not filled:
        _end_of_dump(program)


def _hand_over(member: archive.Found, program: programs.Running) -> None:
    # A broken pipe: its end says why.
    with suppress(BrokenPipeError):
        while piece := member.content.read(1 << 20):
            program.sink.write(piece)


def _end_of_dump(program: programs.Running) -> None:
    with suppress(BrokenPipeError):
        program.sink.close()
    if why := program.failure():
        raise BackupError(f"pg_restore failed: {why}")


def _keep(member: archive.Found, sha256: str) -> None:
    target = storage.path_of(sha256)
    if target.exists() and storage.hash_file(target) == sha256:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_files.written(target) as copy:
        while piece := member.content.read(1 << 20):
            copy.write(piece)


def _make_extensions(names: dict[str, str]) -> None:
    with connection.cursor() as cursor:
        for name in names:
            cursor.execute(SQL("CREATE EXTENSION IF NOT EXISTS {} SCHEMA public").format(Identifier(name)))


@contextmanager
def _address() -> Iterator[tuple[str, str]]:
    """Yield how to reach the database as an account that is no superuser, whatever the site's own is.

    A dump is a program. What it does, it does with no more rights than filling this database takes.
    """
    where, password = programs.address()
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('is_superuser') = 'on', current_database(), current_user")
        is_superuser, database, owner = cursor.fetchone()
    if not is_superuser:
        yield where, password
        return
    password = secrets.token_urlsafe(24)
    _forget_role(owner)
    with connection.cursor() as cursor:
        cursor.execute(
            SQL(
                "CREATE ROLE {role} LOGIN NOSUPERUSER PASSWORD {password};"
                "GRANT CREATE, CONNECT, TEMPORARY ON DATABASE {database} TO {role};"
                "GRANT ALL ON SCHEMA public TO {role}"
            ).format(role=Identifier(ROLE), password=Literal(password), database=Identifier(database))
        )
    try:
        yield make_conninfo(where, user=ROLE), password
    finally:
        _forget_role(owner)


def _forget_role(owner: str) -> None:
    """Give what the role made to `owner`, and remove the role."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE])
        if cursor.fetchone() is None:
            return
        cursor.execute(
            SQL("REASSIGN OWNED BY {role} TO {owner}; DROP OWNED BY {role}; DROP ROLE {role}").format(
                role=Identifier(ROLE), owner=Identifier(owner)
            )
        )


def _proven(checked: checking.Checked) -> Restored:
    """Compare what is there now with what the backup says; raise `NotEqual` where it differs.

    A backup of an older version is brought up to date in between: rows are compared as they were, and what
    only this version can ask is asked afterwards.
    """
    manifest = checked.manifest
    with one_moment():
        found, given, head = state.rows(lambda _count: None), state.sequences(), state.audit_head()
    _require_rows(found, manifest["tables"])
    if behind := [name for name, was in manifest["sequences"].items() if given.get(name, -1) < was]:
        raise NotEqual(f"The sequence {behind[0]} is behind where it was.")
    if head != manifest["audit_head"]:
        raise NotEqual("The sealed records do not end where they did.")
    call_command("migrate", verbosity=0, interactive=False)
    corpus = state.corpus_state()
    # What a fingerprint says of a corpus is a matter of both.
    compared = state.profile() == manifest["profile"] and state.migrations() == manifest["migrations"]
    if compared and corpus.fingerprint != manifest["fingerprint"]:
        raise NotEqual("The fingerprint of the corpus is not the one that was backed up.")
    originals = _require_originals(manifest)
    stored = manifest["questions"] if compared else []
    if other := questions.differing(stored):
        raise NotEqual(f"{len(other)} of {len(stored)} stored questions find something else than they did.")
    return Restored(
        checked.path, str(checked.header["made_at"]), corpus.fingerprint, compared, corpus.documents,
        corpus.passages, len(found), sum(table["rows"] for table in found.values()), originals, len(stored),
        _require_records(),
    )  # fmt: skip


def _require_rows(found: dict[str, Any], written: dict[str, Any]) -> None:
    differing = sorted(name for name in {*found, *written} if found.get(name) != written.get(name))
    if differing:
        raise NotEqual(f"{len(differing)} tables are not as they were backed up, first {differing[0]}.")


def _require_records() -> int:
    verified = verifying.verify()
    if verified.tampers:
        first = verified.tampers[0]
        raise NotEqual(
            f"The sealed records are not as they were: {first.table} {first.row}. See 'sci-rag audit verify'."
        )
    return verified.links


def _require_originals(manifest: dict[str, Any]) -> int:
    """Return how many originals of documents are on disk as they were taken in; raise when one is not."""
    excused = {*manifest["missing"], *manifest["changed"]}
    wanted = sorted(state.documents_with_originals() - excused)
    for sha256 in wanted:
        path = storage.path_of(sha256)
        if not path.exists() or storage.hash_file(path) != sha256:
            raise NotEqual(f"The original {sha256} is not as it was backed up.")
    return len(wanted)


def _afterwards(checked: checking.Checked, restored: Restored, *, by: str) -> None:
    """Sign everybody out, since sessions that had ended since are back, and keep the record."""
    PersonSession.objects.all().delete()
    Session.objects.all().delete()
    values = {
        "size": checked.size,
        "is_sealed": archive.is_sealed(checked.path),
        "fingerprint": restored.fingerprint,
        "documents": restored.documents,
        "passages": restored.passages,
        "originals": restored.originals,
        "questions": restored.questions,
    }
    # It was being made when it was made.
    for row in BackupRun.objects.filter(pk=checked.manifest["record"], state=BackupRun.State.RUNNING):
        records.end(row, state=BackupRun.State.DONE, **values)
    with records.recorded(BackupRun.Kind.RESTORE, checked.path, by=by) as row:
        for name, value in values.items():
            setattr(row, name, value)
