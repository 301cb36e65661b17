"""The commands that keep and prove what the corpus holds: verify, fingerprint, snapshot, export."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from corpus import fixity, snapshots
from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_scope import scope_options
from corpus.curation import CorpusSnapshot
from corpus.domain_profile import InvalidProfile
from corpus.export.files import Form, FormUnavailable
from corpus.export.rows import OutOfScope
from corpus.export.writing import ExportRefused
from corpus.export.writing import export as write_export
from corpus.fingerprint import fingerprint
from corpus.models import Document
from corpus.scope import RetrievalScope


@click.command()
@json_option
def verify(*, as_json: bool) -> None:
    """Compare every kept original and every passage with its hash. Exit code 1 when one has changed.

    The worker does the same by the clock, a part of the corpus at a time.
    """
    checked, changed = 0, []
    for item in fixity.verify(Document.objects.order_by("ingested_at", "id")):
        checked += 1
        if item.fixity is fixity.Fixity.UNCHANGED:
            continue
        changed.append({"document": item.document, "title": item.title, "reason": item.fixity.value})
        if not as_json:
            click.echo(f"{item.document}\t{item.fixity.value}\t{item.title}")
    if as_json:
        print_json({"checked": checked, "changed": changed})
    else:
        click.echo(f"{checked:,} documents compared with their hashes, {len(changed):,} changed.")
    if changed:
        sys.exit(1)


@click.command("fingerprint")
@scope_options(retracted_by_default=True)
@json_option
def fingerprint_command(*, requested: RetrievalScope, as_json: bool) -> None:
    """Print the hash of the corpus, or of what the options leave of it."""
    try:
        value = fingerprint(requested)
    except InvalidProfile as error:
        raise CommandFailed(str(error)) from None
    if as_json:
        print_json({"fingerprint": value, "scope": requested.as_dict()})
    else:
        click.echo(value)


@click.command()
@click.argument("name", required=False)
@click.option("--list", "lists", is_flag=True, help="List the snapshots instead of taking one.")
@json_option
def snapshot(*, name: str | None, lists: bool, as_json: bool) -> None:
    """Keep hashes, classes, counts and fingerprint of the corpus under NAME. It can never be changed."""
    if lists == (name is not None):
        raise click.UsageError("Give a name, or --list, and not both.")
    if lists:
        _list_snapshots(as_json=as_json)
        return
    chosen = (name or "").strip()
    if not chosen or len(chosen) > 100:
        raise click.UsageError("A name has from 1 to 100 characters.")
    try:
        taken = snapshots.take(chosen)
    except (snapshots.NameTaken, InvalidProfile) as error:
        raise CommandFailed(str(error)) from None
    if as_json:
        print_json(_snapshot(taken))
    else:
        click.echo(f"{taken.name}: {taken.counts['documents']:,} documents, fingerprint {taken.fingerprint}")


def _list_snapshots(*, as_json: bool) -> None:
    rows = [_snapshot(row) for row in CorpusSnapshot.objects.defer("documents").order_by("taken_at", "id")]
    if as_json:
        print_json({"snapshots": rows})
        return
    for row in rows:
        count = f"{row['counts']['documents']:,} documents"
        click.echo(f"{row['taken_at']:%Y-%m-%d %H:%M}\t{row['name']}\t{count}\t{row['fingerprint']}")
    if not rows:
        click.echo("There is no snapshot yet.")


def _snapshot(row: CorpusSnapshot) -> dict[str, Any]:
    return {
        "name": row.name,
        "taken_at": row.taken_at,
        "fingerprint": row.fingerprint,
        "embedding_version": row.embedding_version,
        "counts": row.counts,
    }


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--format", "form", type=click.Choice([item.value for item in Form]), default=Form.JSONL.value,
    show_default=True, help="Form of the files; Parquet needs the extra 'parquet'.",
)  # fmt: skip
@scope_options(retracted_by_default=True)
@json_option
def export(*, directory: Path, form: str, requested: RetrievalScope, as_json: bool) -> None:
    """Write documents, passages and citations into the new folder DIRECTORY, with a manifest.

    Without options everything is written, restricted texts included: the manifest says whether all of it
    may be published. The folder appears when it is complete.
    """
    try:
        manifest = write_export(target=directory.absolute(), scope=requested, form=Form(form))
    except (ExportRefused, FormUnavailable, OutOfScope, InvalidProfile) as error:
        raise CommandFailed(str(error)) from None
    except OSError as error:
        raise CommandFailed(f"{directory} could not be written: {error.strerror or error}.") from None
    if as_json:
        print_json(manifest)
        return
    counts = ", ".join(f"{count:,} {name}" for name, count in manifest["counts"].items())
    click.echo(f"{directory}: {counts}.")
    if not manifest["licenses"]["safe_to_publish"]:
        click.echo("Not all of it may be published: see the classes in manifest.json.")
