"""The command that imports a library of a reference manager."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from corpus.bibliography.importing import ImportReport, NothingRead, import_library
from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_progress import TerminalProgress, print_run
from corpus.domain_profile import InvalidProfile
from corpus.gateways.embedding import EmbeddingError
from corpus.ingestion import default_options
from corpus.manifest_fields import FIELDS, FieldError
from corpus.reports import RunReport


def _bucket(_context: click.Context, _option: click.Parameter, value: str | None) -> str:
    try:
        return "" if value is None else str(FIELDS["bucket"](value))
    except FieldError as error:
        raise click.BadParameter(f"{value!r} {error}") from None


def _encoding(_context: click.Context, _option: click.Parameter, value: str | None) -> str:
    if value is None:
        return ""
    try:
        "".encode(value)
    except (LookupError, ValueError):
        raise click.BadParameter(f"{value!r} is not the name of a text encoding.") from None
    return value


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--bucket", callback=_bucket, help="Collection of the documents.")
@click.option("--encoding", callback=_encoding, help="Encoding of FILE, where it is not UTF-8.")
@click.option("--dry-run", is_flag=True, help="Say what would happen; write nothing, embed nothing.")
@json_option
def import_command(*, file: Path, bucket: str, encoding: str, dry_run: bool, as_json: bool) -> None:
    """Import a library: BibTeX, RIS, CSL-JSON, or Zotero's RDF, JSON or CSV, with the files it names.

    Files are looked for in the folder of FILE only. A record that has a DOI, arXiv, PubMed or book number
    is registered as a work, held or merely cited. Rights stay unknown; what a record declares is kept for
    the librarian to decide on.

    The exit code is 1 when nothing of the library could be read, registered or taken in, else 0.
    """
    report = _run(file, bucket=bucket, encoding=encoding, dry_run=dry_run)
    if as_json:
        print_json(_as_dict(report, dry_run=dry_run))
    else:
        _print(report, dry_run=dry_run)
    if report.is_lost:
        sys.exit(1)


def _run(file: Path, *, bucket: str, encoding: str, dry_run: bool) -> ImportReport:
    try:
        options = default_options(bucket=bucket)
        with TerminalProgress() as progress:
            return import_library(
                file, options=options, encoding=encoding, progress=progress, dry_run=dry_run
            )
    except (NothingRead, EmbeddingError, InvalidProfile) as error:
        raise CommandFailed(str(error)) from None


def _print(report: ImportReport, *, dry_run: bool) -> None:
    plan, registered = report.plan, report.works
    if report.run is not None:
        print_run(report.run)
    for problem in plan.problems:
        key = f"{problem.key}: " if problem.key else ""
        click.echo(f"{plan.path}:{problem.line}: {problem.code}: {key}{problem.message}")
    would = "would be " if dry_run else ""
    click.echo(
        f"{len(plan.library.records)} records of {plan.library.format}: {len(plan.batch.files)} files, "
        f"{registered.new} works {would}registered, {registered.completed} {would}completed, "
        f"{registered.known} known, {plan.idle} records with nothing to do."
    )


def _as_dict(report: ImportReport, *, dry_run: bool) -> dict[str, Any]:
    plan, registered = report.plan, report.works
    return {
        "file": str(plan.path),
        "format": plan.library.format,
        "dry_run": dry_run,
        "records": len(plan.library.records),
        "works": {
            "registered": registered.new,
            "completed": registered.completed,
            "known": registered.known,
        },
        "nothing_to_do": plan.idle,
        "run": None if report.run is None else report.run.run,
        "counts": (report.run or RunReport(None)).counts,
        "items": _items(report),
        "problems": [
            {
                "line": problem.line,
                "key": problem.key,
                "code": problem.code.value,
                "message": problem.message,
            }
            for problem in plan.problems
        ],
    }


def _items(report: ImportReport) -> list[dict[str, Any]]:
    reports = [] if report.run is None else report.run.reports
    return [
        {
            "path": item.path,
            "key": record.key,
            "line": record.line,
            "outcome": item.outcome.value,
            "reason": item.reason,
            "detail": item.detail,
            "document": item.document,
            "passages": item.passages,
            "seconds": item.seconds,
        }
        for record, item in zip(report.plan.records, reports, strict=True)
    ]
