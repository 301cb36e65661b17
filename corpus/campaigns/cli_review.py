"""`campaign review`: the works that wait for a person, one after the other or by their numbers."""

from __future__ import annotations

import getpass
import sys
import textwrap
from typing import Any

import click

from corpus.actions.rights import Operator
from corpus.campaigns import included, queries
from corpus.campaigns.actions import screening as action
from corpus.campaigns.actions.discovering import CampaignError
from corpus.campaigns.actions.screening import AlreadyDecided
from corpus.campaigns.models import Campaign
from corpus.campaigns.screening_models import Screening, ScreeningRound, Verdict
from corpus.cli_output import CommandFailed, json_option, print_json

_WIDTH = 100
_KEYS = {"i": Verdict.INCLUDE, "e": Verdict.EXCLUDE}


@click.command()
@click.option("--name", required=True, help="Name of the campaign.")
@click.option("--include", type=click.IntRange(min=1), metavar="NUMBER", help="Include this work.")
@click.option("--exclude", type=click.IntRange(min=1), metavar="NUMBER", help="Exclude this work.")
@click.option("--reason", default="", help="Why, in a sentence.")
@click.option("--undo", is_flag=True, help="Take back the last decision of this account.")
@json_option
def review(
    *, name: str, include: int | None, exclude: int | None, reason: str, undo: bool, as_json: bool
) -> None:
    """Decide on the works that wait for a person.

    At a terminal it goes through them: i includes, e excludes, s leaves one, u undoes, q ends. Elsewhere it
    lists them; decide with --include or --exclude and a work's number, included and excluded ones too.
    """
    if sum([include is not None, exclude is not None, undo]) > 1:
        raise click.UsageError("Give one of --include, --exclude and --undo.")
    row = Campaign.objects.filter(name=" ".join(name.split())).first()
    last = None if row is None else included.current_round(row)
    if row is None or last is None:
        raise CommandFailed(f"{name!r} has no screening to review: 'sci-rag campaign screen' comes first.")
    by = Operator(getpass.getuser())
    try:
        if undo:
            _say(_undo(row, by), as_json=as_json)
        elif include is not None:
            _say(_decide(last, include, Verdict.INCLUDE, reason, by), as_json=as_json)
        elif exclude is not None:
            _say(_decide(last, exclude, Verdict.EXCLUDE, reason, by), as_json=as_json)
        elif sys.stdin.isatty() and sys.stdout.isatty() and not as_json:
            _go_through(row, last, by)
        else:
            _list(last, as_json=as_json)
    except (CampaignError, AlreadyDecided) as error:
        raise CommandFailed(str(error)) from None


def _say(screening: Screening | None, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {"number": None, "verdict": None}
            if screening is None
            else {"number": screening.candidate.number, "verdict": screening.verdict}
        )
    elif screening is None:
        click.echo("There is no decision of yours to take back.")
    else:
        verdict = Verdict(screening.verdict).label
        click.echo(f"{verdict}: {screening.candidate.title or screening.candidate.key}")


def _decide(last: ScreeningRound, number: int, verdict: Verdict, reason: str, by: Operator) -> Screening:
    screening = last.screenings.select_related("candidate").filter(candidate__number=number).first()
    if screening is None:
        raise CommandFailed(f"Work {number} was not screened in this round.")
    return action.decide(screening=screening, verdict=verdict, reason=reason, by=by).screening


def _undo(row: Campaign, by: Operator) -> Screening | None:
    return action.undo(campaign=row, by=by)


def _list(last: ScreeningRound, *, as_json: bool) -> None:
    rows = list(queries.queue(last))
    if as_json:
        print_json({"round": last.number, "waiting": len(rows), "works": [_as_dict(one) for one in rows]})
        return
    for one in rows:
        click.echo(f"{one.candidate.number}\t{_why(one)}\t{one.candidate.title or one.candidate.key}")
    click.echo(f"{len(rows):,} waiting for a person.")


def _as_dict(one: Screening) -> dict[str, Any]:
    newest = one.decisions.all()[0]
    return {
        "number": one.candidate.number,
        "doi": one.candidate.doi,
        "title": one.candidate.title,
        "year": one.candidate.year,
        "why": newest.code,
        "suggested": newest.suggested,
        "confidence": newest.confidence,
        "reason": newest.reason,
        "abstract": one.candidate.abstract,
    }


def _why(one: Screening) -> str:
    newest = one.decisions.all()[0]
    said = f", said {newest.suggested} at {newest.confidence:.2f}" if newest.confidence is not None else ""
    return f"{newest.get_code_display()}{said}"


def _go_through(row: Campaign, last: ScreeningRound, by: Operator) -> None:
    left: set[int] = set()
    while True:
        waiting = queries.queue(last).exclude(pk__in=left)
        one = waiting.first()
        if one is None:
            click.echo("Nothing waits any more." if not left else f"{len(left):,} left for later.")
            return
        _show(one, waiting.count())
        key = click.prompt("i, e, s, u or q", type=click.Choice([*_KEYS, "s", "u", "q"]), show_choices=False)
        if key == "q":
            return
        if key == "u":
            _say(_undo(row, by), as_json=False)
        elif key == "s":
            left.add(one.pk)
        else:
            reason = click.prompt("Reason", default="", show_default=False)
            seen = one.decisions.all()[0].pk
            try:
                action.decide(screening=one, verdict=_KEYS[key], reason=reason, by=by, seen=seen)
            except AlreadyDecided as error:
                click.echo(str(error))


def _show(one: Screening, waiting: int) -> None:
    work, newest = one.candidate, one.decisions.all()[0]
    click.echo(f"\n{work.number}. {work.title or work.key}  [{waiting:,} waiting]")
    click.echo("   ".join(filter(None, [str(work.year or ""), work.venue, work.doi])))
    click.echo(f"{_why(one)}. {newest.reason}".rstrip())
    click.echo(textwrap.fill(work.abstract, _WIDTH) or "No abstract.")
