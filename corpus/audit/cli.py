"""`sci-rag audit`: verify the chain over the append-only tables, and say where it ends."""

from __future__ import annotations

import re
import sys

import click

from corpus.audit import verifying
from corpus.cli_output import json_option, print_json

_WORDS = {
    "row_changed": "was changed",
    "row_gone": "was removed",
    "words_changed": "does not say what it said",
    "row_not_sealed": "came in past the seal",
    "link_changed": "is not the link that was made",
    "end_changed": "is not where the chain ends",
    "known_head_gone": "is not in the chain any more",
}
_HEAD = re.compile(r"(\d{1,18}):([0-9a-f]{64})")


def _known(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[int, str] | None:
    if value is None:
        return None
    match = _HEAD.fullmatch(value.strip())
    if match is None:
        raise click.BadParameter("is not of the form NUMBER:HASH, as 'sci-rag audit head' prints it.")
    return int(match[1]), match[2]


@click.group()
def audit() -> None:
    """Prove that records of decisions, rights and accounts are as they were made."""


@audit.command()
@click.option("--known", metavar="NUMBER:HASH", callback=_known, help="A head kept elsewhere: still there?")
@json_option
def verify(*, known: tuple[int, str] | None, as_json: bool) -> None:
    """Compare every record with its seal. Exit code 1 when one is not as it was sealed."""
    found = verifying.verify(known=known)
    if as_json:
        print_json(
            {
                "links": found.links,
                "head": found.head,
                "tables": list(found.tables),
                "tampers": [{"what": one.what, "table": one.table, "row": one.row} for one in found.tampers],
            }
        )
    else:
        for one in found.tampers:
            click.echo(f"{one.table} {one.row} {_WORDS[one.what]}")
        click.echo(f"{found.links:,} records of {len(found.tables)} tables, {len(found.tampers):,} tampered.")
    if found.tampers:
        sys.exit(1)


@audit.command()
def head() -> None:
    """Print where the chain ends, NUMBER:HASH. Keep it where nobody who keeps the database can write."""
    number, sha256 = verifying.head()
    click.echo(f"{number}:{sha256}")
