"""Showing long work on a terminal. Nothing is drawn when the output goes elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from corpus.reports import Outcome, Report, RunReport

_STYLES = {
    Outcome.READY: "green",
    Outcome.DUPLICATE: "cyan",
    Outcome.NEEDS_OCR: "yellow",
    Outcome.FAILED: "red",
}


def bar_with_time_left() -> Progress:
    """Return a bar on standard error that says how many of how many and the time left."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


class TerminalProgress:
    """A bar with the file at hand and the time left, on standard error."""

    def __init__(self) -> None:
        self._bar = bar_with_time_left()
        self._task = self._bar.add_task("Taking files in", total=None)

    def __enter__(self) -> TerminalProgress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def begin(self, total: int) -> None:
        """Set how many files there are."""
        self._bar.update(self._task, total=total)

    def file(self, name: str) -> None:
        """Show which file is at hand."""
        self._bar.update(self._task, description=_end_of(name, 40))

    def done(self, report: Report) -> None:
        """Count one file."""
        self._bar.advance(self._task)


def _end_of(name: str, length: int) -> str:
    shown = name if len(name) <= length else "\u2026" + name[1 - length :]
    return shown.replace("[", "\\[").ljust(length)


def print_run(report: RunReport) -> None:
    """Print what became of every file, and the counts: a table on a terminal, else a line a file."""
    console = Console()
    if console.is_terminal:
        console.print(_table(report))
    else:
        for item in report.reports:
            click.echo("\t".join([item.path, item.outcome.value, item.reason, item.detail]))
    counts = ", ".join(f"{count} {name}" for name, count in report.counts.items())
    verb = "would end" if report.run is None else "ended"
    click.echo(f"{len(report.reports)} files {verb}: {counts} ({report.seconds:.1f} s).")


def _table(report: RunReport) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("File", "Outcome", "Reason", "Detail"):
        table.add_column(heading, overflow="fold")
    for item in report.reports:
        outcome = Text(item.outcome.label, style=_STYLES[item.outcome])
        table.add_row(Text(item.path), outcome, Text(item.reason), Text(item.detail))
    return table
