"""`sci-rag backup` and `sci-rag restore`: keep everything in one file, and get it back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from corpus.cli_output import CommandFailed, json_option, print_json
from sci_rag_site.backup import checking, drill, making, records, restoring
from sci_rag_site.backup.errors import BackupError

FILE = click.argument("file", type=click.Path(path_type=Path))
passphrase_option = click.option(
    "--passphrase-file",
    type=click.Path(path_type=Path),
    envvar="SCI_RAG_BACKUP_PASSPHRASE_FILE",
    help="A file whose first line is the passphrase that seals the backup.",
)


class BackupGroup(click.Group):
    """Takes what is no command for the file of a new backup."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["create", *args]
        return super().resolve_command(ctx, args)


@click.group(cls=BackupGroup)
def backup() -> None:
    """Keep database and originals in one file, and prove that they can be had back from it."""


@backup.command("create")
@FILE
@passphrase_option
@json_option
def create(*, file: Path, passphrase_file: Path | None, as_json: bool) -> None:
    """Back everything up to FILE, which must not exist. People go on working meanwhile."""
    with _told(), _progress(quiet=as_json) as (say, count):
        made = making.make(
            file,
            passphrase=checking.read_passphrase(passphrase_file),
            by=records.operator(),
            say=say,
            progress=count,
        )
    if as_json:
        print_json(asdict(made))
    else:
        click.echo(
            f"{made.path}: {made.size / 1e6:,.1f} MB, {made.documents:,} documents, "
            f"{made.passages:,} passages, {made.originals:,} originals, "
            f"{made.rows:,} rows of {made.tables} tables."
        )
        click.echo(f"Fingerprint {made.fingerprint}, {made.questions} stored questions to ask again.")
        if not made.is_sealed:
            click.echo("It is as confidential as the documents in it: keep it where they may be kept.")
    if made.missing or made.changed:
        click.echo(
            f"{len(made.missing)} originals of documents were missing and {len(made.changed)} are not "
            "what was taken in. The rest is kept; see 'sci-rag corpus verify'.",
            err=True,
        )


@backup.command("verify")
@FILE
@passphrase_option
@json_option
def verify(*, file: Path, passphrase_file: Path | None, as_json: bool) -> None:
    """Read FILE whole and compare every part with its hash. Touches nothing."""
    with _told(), _progress(quiet=as_json) as (say, count):
        say("Reading the backup ...")
        checked = checking.check(file, passphrase=checking.read_passphrase(passphrase_file), progress=count)
    manifest = checked.manifest
    summary = {
        "path": str(file),
        "size": checked.size,
        "made_at": checked.header["made_at"],
        "sci_rag": checked.header["sci_rag"],
        "server": manifest["server"],
        **{name: manifest[name] for name in ("fingerprint", "documents", "passages", "missing", "changed")},
        "tables": len(manifest["tables"]),
        "rows": sum(table["rows"] for table in manifest["tables"].values()),
        "questions": len(manifest["questions"]),
    }
    if as_json:
        print_json(summary)
    else:
        click.echo(
            f"Whole, made {summary['made_at']} by sci-rag {summary['sci_rag']} from PostgreSQL "
            f"{manifest['server'] // 10_000}: {summary['documents']:,} documents, {summary['passages']:,} "
            f"passages, {summary['rows']:,} rows of {summary['tables']} tables."
        )
        click.echo(f"Fingerprint {summary['fingerprint']}.")


@backup.command("drill")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@passphrase_option
@json_option
def drill_command(*, file: Path | None, passphrase_file: Path | None, as_json: bool) -> None:
    """Restore FILE, or the newest backup made here, into a server that is thrown away, and compare."""
    with _told():
        checking.read_passphrase(passphrase_file)
        done = drill.drill(
            file or drill.last_backup(), passphrase_file=passphrase_file, by=records.operator()
        )
    told = done.told
    if as_json:
        print_json({**told, "path": str(done.path), "seconds": round(done.seconds, 1)})
        return
    click.echo(
        f"{done.path} can be restored: {told['documents']:,} documents, {told['passages']:,} passages, "
        f"{told['rows']:,} rows of {told['tables']} tables and {told['originals']:,} originals are equal, "
        f"{told['questions']} stored questions find the same, after {done.seconds:.0f} s."
    )


@click.command()
@FILE
@click.option("--replace", is_flag=True, help="Lose what the database holds, once the backup proves whole.")
@passphrase_option
@json_option
def restore(*, file: Path, replace: bool, passphrase_file: Path | None, as_json: bool) -> None:
    """Restore the backup FILE into an empty database, and prove that it is what was backed up."""
    with _told(), _progress(quiet=as_json) as (say, count):
        restored = restoring.restore(
            file,
            passphrase=checking.read_passphrase(passphrase_file),
            replace=replace,
            by=records.operator(),
            say=say,
            progress=count,
        )
    if as_json:
        print_json(asdict(restored))
        return
    click.echo(
        f"Restored as of {restored.made_at}: {restored.documents:,} documents, "
        f"{restored.passages:,} passages, {restored.rows:,} rows of {restored.tables} tables, "
        f"{restored.originals:,} originals, {restored.links:,} sealed records, all equal."
    )
    if restored.fingerprint_compared:
        same = f"{restored.questions} stored questions find the same"
        click.echo(f"Fingerprint {restored.fingerprint} as it was; {same}.")
    else:
        click.echo("Its domain profile or version is another than here, and so is the fingerprint.")
    click.echo("Everybody has to sign in again. What was revoked since the backup is valid again: see to it.")


@contextmanager
def _told() -> Iterator[None]:
    """Tell in one line why it cannot be done."""
    try:
        yield
    except BackupError as error:
        raise CommandFailed(str(error)) from None


@contextmanager
def _progress(*, quiet: bool) -> Iterator[tuple[Callable[[str], None], Callable[[int], None]]]:
    """Yield what says on standard error which step this is and how many bytes it has handled."""
    if quiet or not sys.stderr.isatty():
        yield (lambda step: None if quiet else click.echo(step, err=True)), lambda _count: None
        return
    from rich.console import Console
    from rich.progress import DownloadColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns: Any = (SpinnerColumn(), TextColumn("{task.description}"), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task("", total=None)
        yield (
            lambda step: shown.reset(task, description=step),
            lambda count: shown.advance(task, count),
        )
