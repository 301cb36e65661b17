"""The commands that fill the corpus and tell about it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import click

from corpus import manifest as manifests
from corpus.actions import deletion
from corpus.bibliography.cli_import import import_command
from corpus.cli_keeping import export, fingerprint_command, snapshot, verify
from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_progress import TerminalProgress, print_run
from corpus.cli_reparse import reparse_command
from corpus.cli_scan import scan
from corpus.domain_profile import InvalidProfile
from corpus.enrichment.cli import enrich, import_retractions
from corpus.gateways.embedding import EmbeddingError
from corpus.ingestion import default_options, rehearse
from corpus.ingestion import ingest as run_ingestion
from corpus.inputs import Batch, NothingFound, from_manifest, from_paths, read_by
from corpus.intake import Options
from corpus.manifest import UNDESCRIBED, Described
from corpus.manifest_fields import FIELDS, FieldError
from corpus.models import Document
from corpus.parsing import parsers
from corpus.queries import corpus_counts, license_report
from corpus.reports import RunReport

_EXISTING = click.Path(exists=True, path_type=Path)


class _Named(click.Path):
    """A path that was really given: `Path("")` is the current folder, an unset variable is not."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not os.fspath(value):
            self.fail("An empty name is no file or folder.", param, ctx)
        return super().convert(value, param, ctx)


def _like(field: str) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """Return a check of an option's value: what the manifest field of that name allows."""

    def check(_context: click.Context, _option: click.Parameter, value: str | None) -> Any:
        try:
            return None if value is None else FIELDS[field](value)
        except FieldError as error:
            raise click.BadParameter(f"{value!r} {error}") from None

    return check


def _describing(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that describe a single file."""
    options = {
        "title": ("--title", "title", "Title of the document."),
        "doi": ("--doi", "doi", "DOI of the work."),
        "url": ("--url", "url", "Address shown to readers."),
        "version": ("--version", "version", "Version label, such as 2nd edition."),
        "license_source": ("--rights", "license_source", "Where the licence class comes from, verbatim."),
        "license_class": ("--license", "license_class", "Licence class; unknown without it."),
    }
    for name, (flag, field, text) in reversed(options.items()):
        command = click.option(flag, name, callback=_like(field), help=f"{text} Single file only.")(command)
    return command


@click.command()
@click.argument("paths", nargs=-1, type=_Named(path_type=Path))
@click.option("--manifest", "manifest_file", type=_EXISTING, help="JSONL file that describes each document.")
@click.option("--bucket", callback=_like("bucket"), help="Collection of documents whose entry names none.")
@_describing
@click.option(
    "--dry-run", is_flag=True, help="Parse and say what would happen; write nothing, embed nothing."
)
@click.option(
    "--chunk-tokens", type=click.IntRange(50, 8000), help="Length of passages instead of the profile's."
)
@click.option("--overlap-tokens", type=click.IntRange(0, 4000), help="Overlap instead of the profile's.")
@click.option(
    "--parser", type=click.Choice(parsers.NAMES), help="Read with this parser the files that it can read."
)
@json_option
def ingest(
    *,
    paths: tuple[Path, ...],
    manifest_file: Path | None,
    bucket: str | None,
    dry_run: bool,
    chunk_tokens: int | None,
    overlap_tokens: int | None,
    parser: str | None,
    as_json: bool,
    **described: Any,
) -> None:
    """Take files into the corpus: folders in full depth, single files, or the entries of a manifest.

    Every file ends as ready, duplicate, needs_ocr or failed, with a reason. A file that fails does not stop
    the others, and running the command again takes in what is missing.

    The exit code is 1 when the run itself failed or when every single file failed, else 0.
    """
    batch = _batch(paths, manifest_file, {name: value for name, value in described.items() if value})
    batch = read_by(batch, parser) if parser else batch
    options = _options(bucket, chunk_tokens, overlap_tokens)
    report = _run(batch, options, dry_run=dry_run)
    if as_json:
        print_json(_run_as_dict(report))
    else:
        print_run(report)
    if report.is_lost:
        sys.exit(1)


def _batch(paths: tuple[Path, ...], manifest_file: Path | None, described: dict[str, Any]) -> Batch:
    if bool(paths) == (manifest_file is not None):
        raise click.UsageError("Give files and folders, or --manifest, and not both.")
    if described and (manifest_file is not None or len(paths) != 1 or paths[0].is_dir()):
        raise click.UsageError("Options that describe a document go with exactly one file.")
    try:
        if manifest_file is not None:
            return from_manifest(manifest_file)
        return from_paths(paths, Described(**described) if described else UNDESCRIBED)
    except NothingFound as error:
        raise CommandFailed(str(error)) from None


def _options(bucket: str | None, chunk_tokens: int | None, overlap_tokens: int | None) -> Options:
    try:
        return default_options(bucket=bucket or "", chunk_tokens=chunk_tokens, overlap_tokens=overlap_tokens)
    except InvalidProfile as error:
        raise CommandFailed(str(error)) from None
    except ValueError as error:
        raise click.UsageError(f"{str(error).capitalize()}.") from None


def _run(batch: Batch, options: Options, *, dry_run: bool) -> RunReport:
    try:
        with TerminalProgress() as progress:
            if dry_run:
                return rehearse(batch, options=options, progress=progress)
            return run_ingestion(batch, options=options, progress=progress)
    except EmbeddingError as error:
        raise CommandFailed(str(error)) from None


def _run_as_dict(report: RunReport) -> dict[str, Any]:
    return {
        "run": report.run,
        "dry_run": report.run is None,
        "counts": report.counts,
        "seconds": round(report.seconds, 3),
        "items": [
            {
                "path": item.path,
                "outcome": item.outcome.value,
                "reason": item.reason,
                "detail": item.detail,
                "document": item.document,
                "passages": item.passages,
                "seconds": item.seconds,
            }
            for item in report.reports
        ],
    }


@click.group()
def manifest() -> None:
    """Check a manifest before using it."""


@manifest.command()
@click.argument("file", type=_EXISTING)
@json_option
def lint(*, file: Path, as_json: bool) -> None:
    """Name every problem of a manifest with its line. Exit code 1 when there is an error."""
    read = manifests.read(file)
    if as_json:
        problems = [
            {
                "line": problem.line,
                "code": str(problem.code),
                "severity": "warning" if problem.is_warning else "error",
                "message": problem.message,
                "path": problem.path,
            }
            for problem in read.problems
        ]
        print_json({"manifest": str(file), "entries": len(read.entries), "problems": problems})
    else:
        for problem in read.problems:
            severity = "warning" if problem.is_warning else "error"
            click.echo(f"{file}:{problem.line}: {severity} {problem.code}: {problem.message}")
        click.echo(f"{len(read.entries)} usable entries, {len(read.problems)} problems.")
    if read.has_errors:
        sys.exit(1)


@click.group()
def corpus() -> None:
    """Look at and manage the corpus."""


for _command in (
    import_command,
    verify,
    scan,
    fingerprint_command,
    snapshot,
    export,
    reparse_command,
    enrich,
    import_retractions,
):
    corpus.add_command(_command)


@corpus.command()
@json_option
def stats(*, as_json: bool) -> None:
    """Count documents and passages, by state, licence class, status and bucket."""
    counts = corpus_counts()
    if as_json:
        print_json(counts)
        return
    for name, value in counts.items():
        if isinstance(value, dict):
            parts = ", ".join(f"{key} {count}" for key, count in value.items() if count not in (0, None))
            click.echo(f"{name.replace('_', ' ')}: {parts or 'none'}")
        else:
            click.echo(f"{name}: {value}")


@corpus.command("license-report")
@click.option("--strict", is_flag=True, help="Exit 1 when the rights of any document are undeclared.")
@json_option
def license_report_command(*, strict: bool, as_json: bool) -> None:
    """Show every licence class by document and passage, what is safe to publish, what is undeclared."""
    report = license_report()
    if as_json:
        print_json(report.as_dict())
    else:
        click.echo(f"{'class':20}{'documents':>12}{'passages':>12}")
        for name, (documents, passages) in report.classes.items():
            click.echo(f"{name:20}{documents:>12,}{passages:>12,}")
        documents_share, passages_share = report.safe_share()
        click.echo(f"Safe to publish: {documents_share:.1%} of documents, {passages_share:.1%} of passages.")
        for bucket, count in report.undeclared_buckets.items():
            click.echo(f"Undeclared in {bucket}: {count:,}")
    if strict and report.undeclared:
        sys.exit(1)


@corpus.command()
@click.argument("ids", nargs=-1, required=True, type=click.UUID)
@click.option("--dry-run", is_flag=True, help="Count what would be deleted; delete nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def delete(*, ids: tuple[UUID, ...], dry_run: bool, yes: bool, as_json: bool) -> None:
    """Delete documents with their passages, vectors and original files; print a certificate for each."""
    missing = set(ids) - set(Document.objects.filter(pk__in=ids).values_list("pk", flat=True))
    if missing:
        raise CommandFailed(f"No such document: {', '.join(sorted(map(str, missing)))}. Nothing was deleted.")
    if not (dry_run or yes or as_json) and sys.stdin.isatty():
        click.confirm(f"Delete {len(ids)} document(s) for good?", abort=True)
    remove = deletion.preview if dry_run else deletion.delete
    certificates = [remove(document_id=identifier) for identifier in dict.fromkeys(ids)]
    if as_json:
        print_json({"dry_run": dry_run, "certificates": [_certificate(item) for item in certificates]})
    else:
        for item in certificates:
            click.echo(json.dumps(_certificate(item), ensure_ascii=False, indent=2))
    if not dry_run and not all(item.is_complete for item in certificates):
        raise CommandFailed("Something is left of a deleted document; see the certificate.")


def _certificate(item: deletion.Certificate) -> dict[str, Any]:
    return {
        "document": str(item.document),
        "title": item.title,
        "content_sha256": item.content_sha256,
        "before": item.before,
        "after": item.after,
    }
