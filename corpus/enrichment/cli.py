"""The commands that ask about works and import what others found: enrich, import-retractions."""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType

import click

from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_progress import bar_with_time_left
from corpus.enrichment import retraction_watch, running
from corpus.enrichment.running import Enriched
from corpus.gateways.http import ContactMissing

_STOPPED = {
    "provider_down": "Crossref could not be asked ten times in a row, so the run ended. Run it again later.",
    "held_back": "Crossref asks to be left alone for a while, so the run ended. Run it again later.",
}


class _Bar:
    def __init__(self) -> None:
        self._bar = bar_with_time_left()
        self._task = self._bar.add_task("Asking Crossref", total=None)

    def __enter__(self) -> _Bar:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def begin(self, total: int) -> None:
        """Set how many works are due."""
        self._bar.update(self._task, total=total)

    def advance(self) -> None:
        """Count one work."""
        self._bar.advance(self._task)


@click.command()
@click.option("--dry-run", is_flag=True, help="Say which works are due; ask nobody, write nothing.")
@click.option("--limit", type=click.IntRange(min=1), help="Check so many works at most.")
@click.option("--force", is_flag=True, help="Check works again that were checked within 30 days.")
@json_option
def enrich(*, dry_run: bool, limit: int | None, force: bool, as_json: bool) -> None:
    """Ask Crossref about works with a DOI that are held or in a note: retractions, licences, citations.

    What was checked well within 30 days is left out, so an interrupted run is continued by running it again.
    A check that fails is recorded as failed, never as a work without a retraction.

    The exit code is 1 when the run had to end early or not one check succeeded, else 0.
    """
    if dry_run:
        _rehearse(limit, force=force, as_json=as_json)
        return
    try:
        with _Bar() as bar:
            report = running.run(limit=limit, force=force, progress=bar)
    except ContactMissing as error:
        raise CommandFailed(str(error)) from None
    if as_json:
        print_json(
            {
                "dry_run": False,
                "due": report.due,
                "checked": report.checked,
                "failed": dict(report.failed),
                "done": dict(report.done),
                "stopped": report.stopped,
            }
        )
    else:
        _print(report)
    if report.stopped or report.is_lost:
        sys.exit(1)


def _rehearse(limit: int | None, *, force: bool, as_json: bool) -> None:
    due = [source.identifier_value for source in running.plan(limit=limit, force=force)]
    if as_json:
        print_json({"dry_run": True, "due": len(due), "dois": due})
        return
    for doi in due:
        click.echo(doi)
    click.echo(f"{len(due):,} works would be checked. Nobody was asked, nothing was written.")


def _print(report: Enriched) -> None:
    failed = ", ".join(f"{count:,} {reason}" for reason, count in report.failed.most_common())
    click.echo(
        f"{report.checked:,} of {report.due:,} works checked, {report.failed.total():,} checks failed."
    )
    if failed:
        click.echo(f"Failed, nothing is known of them: {failed}.")
    done = {name: count for name, count in report.done.items() if count}
    click.echo(", ".join(f"{name} {count:,}" for name, count in sorted(done.items())) or "Nothing new.")
    if report.stopped:
        click.echo(_STOPPED[report.stopped], err=True)


@click.command("import-retractions")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Say what would be recorded; write nothing.")
@json_option
def import_retractions(*, file: Path, dry_run: bool, as_json: bool) -> None:
    """Record what Retraction Watch's CSV file says about works that are held or cited.

    Importing the same file again changes nothing. The exit code is 1 when rows about such works could not be
    read.
    """
    try:
        report = retraction_watch.import_file(file, dry_run=dry_run)
    except retraction_watch.UnreadableFile as error:
        raise CommandFailed(f"{file}: {error} Nothing after that was imported.") from None
    if as_json:
        print_json(
            {
                "dry_run": dry_run,
                "rows": report.rows,
                "matched": report.matched,
                "recorded": report.recorded,
                "known": report.known,
                "skipped": dict(report.skipped),
                "problems": report.problems,
            }
        )
    else:
        for problem in report.problems:
            click.echo(f"{file}: {problem}", err=True)
        verb = "would be recorded" if dry_run else "recorded"
        click.echo(
            f"{report.rows:,} rows, {report.matched:,} about works known here: {report.recorded:,} events "
            f"{verb}, {report.known:,} known already, {report.skipped['unreadable']:,} unreadable."
        )
    if report.problems:
        sys.exit(1)
