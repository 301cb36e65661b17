"""The commands that read runs: `eval runs`, `report`, `diff`, `baseline`, `gate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from django.db import IntegrityError

from corpus.cli_output import CommandFailed, json_option, print_json
from evaluation.actions.runs import NotABaseline, set_baseline
from evaluation.cli_retrieval import OUT
from evaluation.reports import finding, markdown, writing
from evaluation.reports import gate as gating
from evaluation.reports.comparison import Incomparable, compare
from evaluation.reports.gate import TOLERANCE, Threshold, Verdict
from evaluation.reports.report import NoReport, report_of
from evaluation.reports.writing import Unreadable
from evaluation.runs.models import EvaluationRun

_LISTED = 50


@click.command()
@json_option
def runs(*, as_json: bool) -> None:
    """List the newest runs."""
    found = list(EvaluationRun.objects.order_by("-started_at", "pk")[:_LISTED])
    if as_json:
        print_json({"runs": [_listed(run) for run in found]})
        return
    lines = [
        f"{str(run.pk)[:8]}  {run.started_at:%Y-%m-%d %H:%M}  {run.kind} of {run.question_set_name}: "
        f"{run.state}, {run.done} of {run.planned}"
        for run in found
    ]
    click.echo("\n".join(lines) or "There are no runs.")


def _listed(run: EvaluationRun) -> dict[str, Any]:
    names = ("kind", "state", "question_set_name", "fingerprint", "done", "planned", "failed")
    return {
        "run": run.pk,
        "started_at": run.started_at.isoformat(),
        **{name: getattr(run, name) for name in names},
    }


@click.command()
@click.argument("run")
@OUT
@json_option
def report(*, run: str, out: Path, as_json: bool) -> None:
    """Write the report of RUN (an id, its beginning, or a baseline) again."""
    try:
        found = report_of(finding.find_run(run))
    except NoReport as error:
        raise CommandFailed(str(error)) from None
    folder = writing.write(found, out)
    if as_json:
        print_json({"run": found["run"], "folder": str(folder), "report": found})
    else:
        click.echo(f"{markdown.report(found)}\nWritten to {folder}")


@click.command()
@click.argument("before")
@click.argument("after")
@click.option("--before-configuration", metavar="NAME", help="Not the first of BEFORE but this one.")
@click.option("--after-configuration", metavar="NAME", help="Not the first of AFTER but this one.")
@click.option(
    "--allow-different-corpus", is_flag=True, help="Compare over another corpus; the result says so."
)
@json_option
def diff(
    *,
    before: str,
    after: str,
    before_configuration: str | None,
    after_configuration: str | None,
    allow_different_corpus: bool,
    as_json: bool,
) -> None:
    """Compare two runs question by question; each is an id, a baseline or a report.json.

    Refuses runs of another kind, question set, judge or corpus, naming what differs.
    """
    try:
        sides = finding.find(before), finding.find(after)
        named = before_configuration or _first(sides[0]), after_configuration or _first(sides[1])
        found = compare(*sides, allows_other_corpus=allow_different_corpus, configurations=named)
    except (NoReport, Unreadable, Incomparable) as error:
        raise CommandFailed(str(error)) from None
    if as_json:
        print_json(found.as_dict())
    else:
        click.echo(markdown.comparison(found), nl=False)


def _first(report: dict[str, Any]) -> str:
    return str(report["numbers"]["configurations"][0]["name"])


@click.command()
@click.argument("name")
@click.argument("run")
@json_option
def baseline(*, name: str, run: str, as_json: bool) -> None:
    """Hold later runs against RUN under NAME."""
    try:
        found = set_baseline(name=name, run=finding.find_run(run), by=None)
    except (NoReport, NotABaseline) as error:
        raise CommandFailed(str(error)) from None
    except IntegrityError:
        raise CommandFailed(f"'{name}' is no name: use a-z, 0-9, '.', '_' and '-'.") from None
    if as_json:
        print_json({"baseline": name, "run": found.run_id})
    else:
        click.echo(f"{name} is run {found.run_id}.")


@click.command()
@click.argument("run", required=False)
@click.option("--baseline", "baseline_name", metavar="NAME", help="A baseline, a run or a report.json.")
@click.option("--least", "least", multiple=True, metavar="MEASURE=VALUE", help="As hit@10=0.65. Repeatable.")
@click.option("--level", default="passage", show_default=True, help="Of --least: passage or document.")
@click.option(
    "--tolerance", default=TOLERANCE, show_default=True, type=click.FloatRange(0, 1),
    help="What a mean may lose to the baseline.",
)  # fmt: skip
@json_option
def gate(
    *,
    run: str | None,
    baseline_name: str | None,
    least: tuple[str, ...],
    level: str,
    tolerance: float,
    as_json: bool,
) -> None:
    """Fail when RUN is worse than the baseline or below a threshold; without RUN, the newest of its set.

    Exit code 1 names what was missed and the questions that moved.
    """
    if baseline_name is None and (run is None or not least):
        raise click.UsageError("Say --baseline, or RUN and --least.")
    thresholds = tuple(_threshold(level, text) for text in least)
    try:
        held = None if baseline_name is None else finding.find(baseline_name)
        report = finding.find(run) if run is not None else report_of(finding.latest(like=held or {}))
        verdict = gating.judge(report, baseline=held, thresholds=thresholds, tolerance=tolerance)
    except (NoReport, Unreadable, Incomparable) as error:
        raise CommandFailed(str(error)) from None
    if as_json:
        print_json({"run": report["run"], **verdict.as_dict()})
    else:
        _print(report, verdict)
    if not verdict.passes:
        sys.exit(1)


def _print(report: dict[str, Any], verdict: Verdict) -> None:
    if verdict.comparison is not None:
        click.echo(markdown.comparison(verdict.comparison))
    for missed in verdict.missed:
        click.echo(f"Missed: {missed}.")
    for warning in report.get("warnings", []):
        click.echo(f"Warning: {warning}")
    click.echo(f"Run {report['run']} {'passes' if verdict.passes else 'does not pass'}.")


def _threshold(level: str, text: str) -> Threshold:
    measure, _, value = text.partition("=")
    try:
        return Threshold(level, measure.strip(), float(value))
    except ValueError:
        raise click.UsageError(f"--least {text}: write it as hit@10=0.65.") from None
