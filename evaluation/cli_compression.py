"""The command `eval compression`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_scope import scope_options
from corpus.scope import RetrievalScope
from corpus.usage import estimating
from corpus.usage.budget import Cap
from corpus.usage.capping import budget_of
from corpus.usage.cli_caps import cap_options, checked, only_said, stop_at_the_cap
from evaluation.actions.compression import decide
from evaluation.cli_answers import failed_to_end, refusals_told, watched
from evaluation.cli_questions import found_set
from evaluation.cli_retrieval import OUT
from evaluation.compression import queries, telling
from evaluation.judging import starting
from evaluation.judging.starting import Wanted
from evaluation.reports import finding, writing
from evaluation.reports.comparison import Incomparable
from evaluation.reports.report import report_of
from evaluation.runs.models import EvaluationRun
from retrieval.cli_search import PROFILE_HELP
from retrieval.request import MAX_LIMIT


@click.command()
@click.argument("question_set", required=False)
@click.option(
    "--whole", "whole", metavar="RUN", help="Decide by this run with whole sources, and --condensed."
)
@click.option("--condensed", "condensed", metavar="RUN", help="Decide by this run with condensed sources.")
@click.option("--profile", default="interactive", show_default=True, help=PROFILE_HELP)
@click.option(
    "--limit",
    default=8,
    show_default=True,
    type=click.IntRange(1, MAX_LIMIT),
    help="Passages for each answer.",
)
@click.option("--snapshot", default="", metavar="NAME", help="Make sure the corpus is this snapshot's.")
@click.option("--dry-run", is_flag=True, help="Say what both runs would come to; ask nobody.")
@OUT
@cap_options
@scope_options(retracted_by_default=False)
@json_option
def compression(  # noqa: PLR0913 - it names the options of one command
    *,
    question_set: str | None,
    whole: str | None,
    condensed: str | None,
    profile: str,
    limit: int,
    snapshot: str,
    dry_run: bool,
    out: Path,
    cap: Cap,
    requested: RetrievalScope,
    as_json: bool,
) -> None:
    """Decide whether condensed sources may be adopted: answer and judge QUESTION_SET with and without.

    With --whole and --condensed it decides by two runs that are there. The decision is kept, a rejection too.
    Exit code 1 when it is rejected, 3 when a run stopped at its cap.
    """
    has_runs = whole is not None and condensed is not None
    if has_runs == (question_set is not None) or (whole is None) != (condensed is None):
        raise click.UsageError("Name a question set, or two runs by --whole and --condensed.")
    with refusals_told():
        if question_set is None:
            sides = finding.find_run(whole or ""), finding.find_run(condensed or "")
        else:
            wanted = Wanted(found_set(question_set), requested, profile, None, limit, snapshot)
            wishes = [replace(wanted, compressed=is_condensed) for is_condensed in (False, True)]
            estimate = estimating.together(starting.estimated(wish, by=None) for wish in wishes)
            if dry_run:
                only_said(estimate, as_json=as_json)
                return
            each = checked(cap, estimate)
            sides = _both([replace(wish, cap=each) for wish in wishes], out)
        try:
            decision = decide(whole=sides[0], condensed=sides[1], by=None)
        except Incomparable as error:
            raise CommandFailed(str(error)) from None
    found = queries.as_dict(decision)
    if as_json:
        print_json(found)
    else:
        sys.stdout.write(telling.text(found))
    if not decision.is_adopted:
        sys.exit(1)


def _both(wishes: Sequence[Wanted], out: Path) -> tuple[EvaluationRun, EvaluationRun]:
    """Carry both runs out, the one with whole sources first, and write their reports."""
    ended = []
    for wish in wishes:
        run = watched(starting.start(wanted=wish, is_for_workers=False, by=None))
        if run.state == EvaluationRun.State.CAPPED:
            click.echo(
                f"Go on with: sci-rag eval answers --resume {run.pk}, and a higher cap; decide by two runs "
                "with --whole and --condensed.",
                err=True,
            )
            stop_at_the_cap(budget_of(run).reached)
        if run.state != EvaluationRun.State.FINISHED:
            raise failed_to_end(run)
        writing.write(report_of(run), out)
        ended.append(run)
    return ended[0], ended[1]
