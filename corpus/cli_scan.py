"""`sci-rag corpus scan`: have the rules of today look at what the corpus holds."""

from __future__ import annotations

import sys

import click

from corpus import scanning
from corpus.cli_output import json_option, print_json
from corpus.cli_progress import bar_with_time_left
from corpus.scanning import Scanned


@click.command()
@click.option(
    "--all", "everything", is_flag=True, help="Also what the rules of today have looked at already."
)
@click.option("--dry-run", is_flag=True, help="Say what would be held back; change nothing.")
@json_option
def scan(*, everything: bool, dry_run: bool, as_json: bool) -> None:
    """Look for orders to models and hidden text in held documents, and hold back what has to be read first.

    Only documents that the present rules have not looked at, unless --all. Ctrl-C stops after the document
    at hand, and the same command goes on with the rest. What a librarian let go stays let go, unless the
    rules find something else in it. The exit code is 1 when a document could not be looked into.
    """
    documents = scanning.with_text() if everything else scanning.due()
    total, found, is_stopped = documents.count(), [], False
    bar = bar_with_time_left()
    task = bar.add_task("Looking", total=total)
    try:
        with bar:
            for one in scanning.scan(documents, dry_run=dry_run):
                found.append(one)
                bar.advance(task)
    except KeyboardInterrupt:
        is_stopped = True
    held = [one for one in found if one.is_held]
    failed = [one for one in found if one.reason]
    if as_json:
        print_json(
            {
                "dry_run": dry_run,
                "due": total,
                "looked_at": len(found) - len(failed),
                "stopped": is_stopped,
                "held_back": [_as_dict(one) for one in held],
                "not_looked_into": [{"document": one.document, "reason": one.reason} for one in failed],
            }
        )
    else:
        _print(found, held, failed, total=total, dry_run=dry_run, is_stopped=is_stopped)
    if is_stopped:
        sys.exit(130)
    if failed:
        sys.exit(1)


def _as_dict(one: Scanned) -> dict[str, object]:
    kinds = sorted({place.kind.value for place in one.places})
    return {"document": one.document, "title": one.title, "kinds": kinds, "places": len(one.places)}


def _print(
    found: list[Scanned],
    held: list[Scanned],
    failed: list[Scanned],
    *,
    total: int,
    dry_run: bool,
    is_stopped: bool,
) -> None:
    for one in held:
        kinds = ", ".join(sorted({place.kind.value for place in one.places}))
        click.echo(f"{one.document}\t{kinds}\t{one.title}")
    for one in failed:
        click.echo(f"{one.document}\tnot looked into: {one.reason}\t{one.title}")
    done = "would be held back" if dry_run else "held back"
    click.echo(f"{len(found):,} of {total:,} documents looked at, {len(held):,} {done}.")
    if is_stopped:
        click.echo("Stopped. The same command goes on with the rest.")
