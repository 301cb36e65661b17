"""The command that reads documents again."""

from __future__ import annotations

import sys
from typing import Any
from uuid import UUID

import click

from corpus import reparsing
from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.gateways.embedding import EmbeddingError
from corpus.models import Document
from corpus.parsing import parsers
from corpus.reports import Outcome, Report


@click.command("reparse")
@click.argument("ids", nargs=-1, required=True, type=click.UUID)
@click.option("--parser", type=click.Choice(parsers.NAMES), help="Read with this parser, not the usual one.")
@click.option("--dry-run", is_flag=True, help="Say what would be found; write and embed nothing.")
@json_option
def reparse_command(*, ids: tuple[UUID, ...], parser: str | None, dry_run: bool, as_json: bool) -> None:
    """Read the originals of documents again and give the documents what is found.

    A document keeps its id, its rights and its history; passages that did not change keep theirs. One that
    cannot be read stays as it is. Exit code 1 when none could be read.
    """
    missing = set(ids) - set(Document.objects.filter(pk__in=ids).values_list("pk", flat=True))
    if missing:
        raise CommandFailed(f"No such document: {', '.join(sorted(map(str, missing)))}. Nothing was read.")
    read = reparsing.rehearse if dry_run else reparsing.reparse
    try:
        reports = [read(document_id=identifier, parser=parser or "") for identifier in dict.fromkeys(ids)]
    except EmbeddingError as error:
        raise CommandFailed(str(error)) from None
    if as_json:
        print_json({"dry_run": dry_run, "documents": [_as_dict(report) for report in reports]})
    else:
        for report in reports:
            click.echo("\t".join([str(report.document), report.outcome.value, report.reason, report.detail]))
    if all(report.outcome == Outcome.FAILED for report in reports):
        sys.exit(1)


def _as_dict(report: Report) -> dict[str, Any]:
    return {
        "document": report.document,
        "path": report.path,
        "outcome": report.outcome.value,
        "reason": report.reason,
        "detail": report.detail,
        "passages": report.passages,
        "seconds": report.seconds,
    }
