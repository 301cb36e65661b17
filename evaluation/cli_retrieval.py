"""The command `eval retrieval`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_progress import bar_with_time_left
from corpus.cli_scope import scope_options
from corpus.domain_profile import InvalidProfile
from corpus.prompt_files import InvalidPrompt
from corpus.scope import RetrievalScope
from evaluation.cli_questions import found_set
from evaluation.reports import markdown, writing
from evaluation.reports.report import report_of
from evaluation.runs import ablations, background, running
from evaluation.runs.ablations import CONFIGURATIONS, UnknownConfiguration
from evaluation.runs.models import EvaluationRun
from evaluation.runs.planning import CannotEvaluate, Plan
from retrieval.profiles import NAMES

OUT = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("eval_results"),
    show_default=True,
    help="Write the report into a folder of its own below this one.",
)


@click.command()
@click.argument("question_set")
@click.option("--profile", type=click.Choice(NAMES), default="deep", show_default=True, help="How to search.")
@click.option("--ablate", is_flag=True, help="Compare every registered configuration with full_deep.")
@click.option(
    "--configuration",
    "names",
    multiple=True,
    metavar="NAME",
    help=f"Compare this one with full_deep. Repeatable: {', '.join(CONFIGURATIONS)}.",
)
@click.option("--split", type=click.Choice(["train", "test"]), help="Ask only this part of the set.")
@click.option("--tag", "tags", multiple=True, help="Ask only questions with this tag. Repeatable.")
@click.option("--snapshot", default="", metavar="NAME", help="Make sure the corpus is this snapshot's.")
@click.option("--background", "in_background", is_flag=True, help="Leave it to the worker.")
@OUT
@scope_options(retracted_by_default=True)
@json_option
def retrieval(  # noqa: PLR0913 - it names the options of one command
    *,
    question_set: str,
    profile: str,
    ablate: bool,
    names: tuple[str, ...],
    split: str | None,
    tags: tuple[str, ...],
    snapshot: str,
    in_background: bool,
    out: Path,
    requested: RetrievalScope,
    as_json: bool,
) -> None:
    """Measure retrieval against the questions of QUESTION_SET.

    Writes report.json, report.md and report.html. Exit code 1 when nothing could be measured.
    """
    try:
        plan = Plan(
            question_set=found_set(question_set),
            scope=requested,
            configurations=_configurations(profile, names, ablate=ablate),
            split=split or "",
            tags=tags,
            snapshot=snapshot,
        )
        run = background.enqueue(plan, by=None) if in_background else _watched(plan)
    except UnknownConfiguration as error:
        raise click.UsageError(str(error)) from None
    except (CannotEvaluate, InvalidProfile, InvalidPrompt) as error:
        raise CommandFailed(str(error)) from None
    if in_background:
        _say(
            {"run": run.pk, "state": run.state},
            f"Run {run.pk}: {run.planned} results to be had.",
            as_json=as_json,
        )
        return
    if run.state != EvaluationRun.State.FINISHED:
        raise CommandFailed(f"Nothing was measured: {run.last_error_code.replace('_', ' ')}.")
    report = report_of(run)
    folder = writing.write(report, out)
    text = f"{markdown.report(report)}\nRun {run.pk}, written to {folder}"
    _say({"run": run.pk, "state": run.state, "folder": str(folder), "report": report}, text, as_json=as_json)


def _configurations(
    profile: str, names: tuple[str, ...], *, ablate: bool
) -> tuple[ablations.Configuration, ...]:
    if ablate:
        return ablations.chosen(CONFIGURATIONS)
    return ablations.chosen(names) if names else ablations.of_profile(profile)


def _watched(plan: Plan) -> EvaluationRun:
    with bar_with_time_left() as bar:
        task = bar.add_task("Asking", total=None)

        def advance(count: int) -> None:
            bar.advance(task, count)

        def begun(run: EvaluationRun) -> None:
            bar.update(task, total=run.planned)

        return running.evaluate(plan, by=None, begun=begun, advance=advance)


def _say(value: dict[str, object], text: str, *, as_json: bool) -> None:
    if as_json:
        print_json(value)
    else:
        sys.stdout.write(f"{text}\n")
