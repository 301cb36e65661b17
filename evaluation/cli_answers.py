"""The command `eval answers`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from answers.models import EXTRACTIVE, MODEL
from answers.writers import EngineUnavailable
from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_progress import bar_with_time_left
from corpus.cli_scope import scope_options
from corpus.prompt_files import InvalidPrompt
from corpus.scope import RetrievalScope
from evaluation.cli_questions import found_set
from evaluation.cli_retrieval import OUT
from evaluation.judging import background, running, starting
from evaluation.judging.starting import CannotStart, Wanted
from evaluation.reports import finding, markdown, writing
from evaluation.reports.report import NoReport, report_of
from evaluation.runs.models import EvaluationRun
from evaluation.runs.planning import CannotEvaluate
from retrieval.cli_search import PROFILE_HELP
from retrieval.profiles import UnknownProfile
from retrieval.request import MAX_LIMIT


@click.command()
@click.argument("question_set", required=False)
@click.option("--resume", "resumed", metavar="RUN", help="Go on with this run, as it was begun.")
@click.option("--profile", default="interactive", show_default=True, help=PROFILE_HELP)
@click.option(
    "--limit",
    default=8,
    show_default=True,
    type=click.IntRange(1, MAX_LIMIT),
    help="Passages for each answer.",
)
@click.option(
    "--engine",
    type=click.Choice([MODEL, EXTRACTIVE]),
    help="Who writes the answers.  [default: the model, if any]",
)
@click.option("--snapshot", default="", metavar="NAME", help="Make sure the corpus is this snapshot's.")
@click.option("--background", "in_background", is_flag=True, help="Leave it to the worker.")
@OUT
@scope_options(retracted_by_default=False)
@json_option
def answers(  # noqa: PLR0913 - it names the options of one command
    *,
    question_set: str | None,
    resumed: str | None,
    profile: str,
    limit: int,
    engine: str | None,
    snapshot: str,
    in_background: bool,
    out: Path,
    requested: RetrievalScope,
    as_json: bool,
) -> None:
    """Answer the questions of QUESTION_SET and have a judge grade the answers in two blind passes.

    Writes report.json, report.md and report.html. Exit code 1 when no reply of the judge could be read.
    """
    if (question_set is None) == (resumed is None):
        raise click.UsageError("Name a question set, or a run to go on with by --resume.")
    try:
        if resumed is not None:
            run = _resumed(resumed)
        else:
            wanted = Wanted(found_set(question_set or ""), requested, profile, engine, limit, snapshot)
            if in_background:
                _queued(background.enqueue(wanted=wanted, by=None), as_json=as_json)
                return
            run = starting.start(wanted=wanted, is_for_workers=False, by=None)
        ended = _watched(run)
    except UnknownProfile as error:
        raise click.UsageError(str(error)) from None
    except (CannotEvaluate, EngineUnavailable, InvalidPrompt, NoReport) as error:
        raise CommandFailed(str(error)) from None
    _reported(ended, out, as_json=as_json)


def _resumed(name: str) -> EvaluationRun:
    run = finding.find_run(name)
    if run.kind != EvaluationRun.Kind.ANSWERS or run.state != EvaluationRun.State.RUNNING:
        raise CannotStart(f"Run {run.pk} is not a run of answers that was broken off.")
    if run.is_for_workers:
        raise CannotStart(f"Run {run.pk} belongs to the worker, which goes on with it by itself.")
    return run


def _queued(run: EvaluationRun, *, as_json: bool) -> None:
    if as_json:
        print_json({"run": run.pk, "state": run.state, "planned": run.planned})
    else:
        click.echo(f"Run {run.pk}: {run.planned} replies to be had by the worker.")


def _watched(run: EvaluationRun) -> EvaluationRun:
    with bar_with_time_left() as bar:
        task = bar.add_task("Answering and judging", total=run.planned, completed=run.done)

        def advance(count: int) -> None:
            bar.advance(task, count)

        try:
            ended = running.carry_out(run, advance=advance)
        except KeyboardInterrupt:
            click.echo(f"Go on with: sci-rag eval answers --resume {run.pk}", err=True)
            raise
    assert ended is not None  # noqa: S101 - without a time limit it goes to its end
    return ended


def _reported(run: EvaluationRun, out: Path, *, as_json: bool) -> None:
    if run.state != EvaluationRun.State.FINISHED:
        code = run.last_error_code.replace("_", " ")
        raise CommandFailed(f"Run {run.pk}: no reply of the judge could be read ({code}).")
    report = report_of(run)
    folder = writing.write(report, out)
    if as_json:
        print_json({"run": run.pk, "state": run.state, "folder": str(folder), "report": report})
    else:
        sys.stdout.write(f"{markdown.report(report)}\nRun {run.pk}, written to {folder}\n")
