"""The commands of calibration: `eval labels` and `eval calibrate`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from corpus.cli_output import CommandFailed, json_option, print_json
from evaluation.actions import calibration as action
from evaluation.actions.calibration import CalibrationError
from evaluation.actions.labels import import_labels
from evaluation.calibration import files, sampling
from evaluation.calibration.files import LabelFileError
from evaluation.calibration.models import CalibrationQueue
from evaluation.cli_retrieval import OUT
from evaluation.reports import answers, finding, markdown, writing
from evaluation.reports.report import NoReport, report_of
from evaluation.runs.models import EvaluationRun

SEED = click.option(
    "--seed",
    default=sampling.SEED,
    show_default=True,
    type=click.IntRange(0, 2**31 - 1),
    help="Of the sample.",
)


@click.group()
def labels() -> None:
    """Draw answers for people to label, and move labels in and out."""


@labels.command()
@click.argument("run")
@click.option(
    "--size", default=sampling.SIZE, show_default=True, type=click.IntRange(1, 500), help="How many answers."
)
@SEED
@json_option
def draw(*, run: str, size: int, seed: int, as_json: bool) -> None:
    """Draw a sample of the answers of RUN; experts then find it on the site under Calibration."""
    try:
        queue = action.draw(run=_run(run), size=size, seed=seed, by=None)
    except CalibrationError as error:
        raise CommandFailed(str(error)) from None
    count = queue.items.count()
    if as_json:
        print_json({"sample": queue.pk, "run": queue.run_id, "seed": seed, "items": count})
    else:
        click.echo(f"Drew {count} answers of run {queue.run_id} with seed {seed}.")


@labels.command("export")
@click.argument("run")
@SEED
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Into this file, not the terminal."
)
def export_labels(*, run: str, seed: int, out: Path | None) -> None:
    """Write the labels of a sample of RUN as JSONL, as `import` reads it."""
    text = files.written(_sample(run, seed))
    if out is None:
        sys.stdout.write(text)
    else:
        out.write_text(text, encoding="utf-8")


@labels.command("import")
@click.argument("run")
@click.argument("path", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@SEED
@json_option
def take_labels(*, run: str, path: Path, seed: int, as_json: bool) -> None:
    """Take the labels of PATH into a sample of RUN; all of them or, on a mistake, none.

    Labels of answers that are not in the sample, or are not the same text any more, are left out and counted.
    """
    queue = _sample(run, seed)
    try:
        found = import_labels(queue=queue, lines=files.read(path.read_text(encoding="utf-8")), by=None)
    except UnicodeDecodeError:
        raise CommandFailed(f"{path.name} is not UTF-8 text.") from None
    except LabelFileError as error:
        raise CommandFailed("\n".join([f"{path.name}:", *map(str, error.problems)])) from None
    if as_json:
        print_json({"added": found.added, "unchanged": found.unchanged, "elsewhere": found.elsewhere})
    else:
        click.echo(
            f"{found.added} labels added, {found.unchanged} there already, "
            f"{found.elsewhere} about other answers left out."
        )


@click.command()
@click.argument("run")
@OUT
@json_option
def calibrate(*, run: str, out: Path, as_json: bool) -> None:
    """Say how far the judge of RUN agrees with people, and write it beside and into its report."""
    row = _run(run)
    found = answers.calibrations(row)
    if not found:
        raise CommandFailed(f"No sample of run {row.pk} was drawn: begin with 'sci-rag eval labels draw'.")
    try:
        report = report_of(row)
    except NoReport as error:
        raise CommandFailed(str(error)) from None
    folder = writing.write(report, out)
    text = json.dumps(found, ensure_ascii=False, indent=1)
    (folder / "calibration.json").write_text(f"{text}\n", encoding="utf-8")
    if as_json:
        print_json({"run": row.pk, "folder": str(folder), "calibration": found})
    else:
        click.echo(f"{markdown.report(report)}\nWritten to {folder}")


def _run(name: str) -> EvaluationRun:
    try:
        return finding.find_run(name)
    except NoReport as error:
        raise CommandFailed(str(error)) from None


def _sample(name: str, seed: int) -> CalibrationQueue:
    run = _run(name)
    queue = CalibrationQueue.objects.filter(run=run, seed=seed).first()
    if queue is None:
        seeds = [str(each) for each in run.calibrations.order_by("seed", "pk").values_list("seed", flat=True)]
        there = (
            f"There are those with seed {', '.join(seeds)}." if seeds else "Draw one with 'eval labels draw'."
        )
        raise CommandFailed(f"Run {run.pk} has no sample with seed {seed}. {there}")
    return queue
