"""The command `eval answers`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from answers.models import EXTRACTIVE, MODEL
from answers.writers import EngineUnavailable
from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_progress import bar_with_time_left
from corpus.cli_scope import scope_options
from corpus.prompt_files import InvalidPrompt
from corpus.run_claims import RunLost, holding
from corpus.scope import RetrievalScope
from corpus.usage.budget import Cap
from corpus.usage.capping import budget_of
from corpus.usage.cli_caps import cap_options, checked, only_said, stop_at_the_cap
from evaluation.actions import runs as action
from evaluation.cli_questions import found_set
from evaluation.cli_retrieval import OUT
from evaluation.judging import background, running, starting
from evaluation.judging.starting import CannotStart, Wanted
from evaluation.reports import finding, markdown, writing
from evaluation.reports.report import NoReport, report_of
from evaluation.runs.holding import who_holds
from evaluation.runs.models import EvaluationRun
from evaluation.runs.planning import CannotEvaluate
from retrieval.cli_search import PROFILE_HELP
from retrieval.profiles import UnknownProfile
from retrieval.request import MAX_LIMIT, InvalidRequest


@click.command()
@click.argument("question_set", required=False)
@click.option("--resume", "resumed", metavar="RUN", help="Go on with this run, as it was begun.")
@click.option("--retry", "retried", metavar="RUN", help="Ask again for the replies of this run that failed.")
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
@click.option(
    "--compressed/--uncompressed",
    default=None,
    help="Have the model read condensed sources, or not.  [default: as the domain profile says]",
)
@click.option("--snapshot", default="", metavar="NAME", help="Make sure the corpus is this snapshot's.")
@click.option("--background", "in_background", is_flag=True, help="Leave it to the worker.")
@click.option("--dry-run", is_flag=True, help="Say what the run would come to; ask nobody.")
@OUT
@scope_options(retracted_by_default=False)
@cap_options
@json_option
def answers(  # noqa: PLR0913 - it names the options of one command
    *,
    question_set: str | None,
    resumed: str | None,
    retried: str | None,
    profile: str,
    limit: int,
    engine: str | None,
    compressed: bool | None,
    snapshot: str,
    in_background: bool,
    dry_run: bool,
    out: Path,
    requested: RetrievalScope,
    cap: Cap,
    as_json: bool,
) -> None:
    """Answer the questions of QUESTION_SET and have a judge grade the answers in two blind passes.

    Writes report.json, report.md and report.html. Exit code 1 when no reply of the judge could be read, 3
    when the run stopped at its cap: --resume goes on with it under a higher one.
    """
    if sum(one is not None for one in (question_set, resumed, retried)) != 1:
        raise click.UsageError("Name a question set, or one run by --resume or --retry.")
    with refusals_told():
        if question_set is not None:
            wanted = Wanted(found_set(question_set), requested, profile, engine, limit, snapshot, compressed)
            estimate = starting.estimated(wanted, by=None)
            if dry_run:
                only_said(estimate, as_json=as_json)
                return
            wanted = replace(wanted, cap=checked(cap, estimate))
            if in_background:
                _queued(background.enqueue(wanted=wanted, by=None), as_json=as_json)
                return
            run = starting.start(wanted=wanted, is_for_workers=False, by=None)
        elif retried is not None:
            run = starting.reopen(finding.find_run(retried), for_workers=False, by=None)
        else:
            run = _resumed(resumed or "", cap)
            if run.is_for_workers:
                background.ring(run.pk)
                _queued(run, as_json=as_json)
                return
        ended = watched(run)
    _reported(ended, out, as_json=as_json)


@contextmanager
def refusals_told() -> Iterator[None]:
    """End the command with what cannot be begun or gone on with."""
    try:
        yield
    except UnknownProfile as error:
        raise click.UsageError(str(error)) from None
    except (CannotEvaluate, EngineUnavailable, InvalidPrompt, InvalidRequest, NoReport) as error:
        raise CommandFailed(str(error)) from None


def _resumed(name: str, cap: Cap) -> EvaluationRun:
    run = finding.find_run(name)
    if run.state == EvaluationRun.State.CAPPED:
        try:
            return action.raise_cap(run=run.pk, cap=cap, by=None)
        except action.CannotRaise as error:
            raise CannotStart(str(error)) from None
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


def watched(run: EvaluationRun) -> EvaluationRun:
    """Carry a run out to its end behind a bar, alone. Raises `CannotStart` when somebody else is at it."""
    claimed = action.claim(run=run.pk, for_workers=False)
    if claimed is None:
        raise CannotStart(who_holds(run.pk))
    with bar_with_time_left() as bar, holding(claimed):
        task = bar.add_task("Answering and judging", total=claimed.planned, completed=claimed.done)

        def advance(count: int) -> None:
            bar.advance(task, count)

        try:
            ended = running.carry_out(claimed, advance=advance)
        except RunLost:
            raise CannotStart(f"Somebody else took it over. {who_holds(run.pk)}") from None
        except KeyboardInterrupt:
            click.echo(f"Go on with: sci-rag eval answers --resume {run.pk}", err=True)
            raise
    assert ended is not None  # noqa: S101 - without a time limit it goes to its end
    return ended


def failed_to_end(run: EvaluationRun) -> CommandFailed:
    """Return why a run has no numbers, for people."""
    if run.state == EvaluationRun.State.CANCELLED:
        return CommandFailed(f"Run {run.pk} was cancelled.")
    code = run.last_error_code.replace("_", " ")
    return CommandFailed(f"Run {run.pk}: no reply of the judge could be read ({code}).")


def _reported(run: EvaluationRun, out: Path, *, as_json: bool) -> None:
    if run.state == EvaluationRun.State.CAPPED:
        if as_json:
            print_json({"run": run.pk, "state": run.state, "tokens_used": run.tokens_used})
        else:
            click.echo(f"Go on with: sci-rag eval answers --resume {run.pk}, and a higher cap.")
        stop_at_the_cap(budget_of(run).reached)
    if run.state != EvaluationRun.State.FINISHED:
        raise failed_to_end(run)
    report = report_of(run)
    folder = writing.write(report, out)
    if as_json:
        print_json({"run": run.pk, "state": run.state, "folder": str(folder), "report": report})
    else:
        sys.stdout.write(f"{markdown.report(report)}\nRun {run.pk}, written to {folder}\n")
