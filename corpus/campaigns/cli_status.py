"""How commands tell how far a campaign is."""

from __future__ import annotations

import getpass
from typing import Any

import click

from corpus.actions.rights import Operator
from corpus.campaigns import carrying, included, queries
from corpus.campaigns.actions import runs
from corpus.campaigns.models import Campaign, CampaignRun
from corpus.cli_output import CommandFailed, json_option, print_json

_ENDED_EARLY = {CampaignRun.State.FAILED, CampaignRun.State.CAPPED}


def found(name: str) -> Campaign:
    """Return the campaign called `name`, or fail naming those there are."""
    row = Campaign.objects.filter(name=" ".join(name.split())).first()
    if row is None:
        there = ", ".join(queries.campaigns().values_list("name", flat=True)[:10]) or "none yet"
        raise CommandFailed(f"There is no campaign called {name!r}. There are: {there}.")
    return row


@click.command()
@click.option("--name", help="Name of the campaign; all of them without it.")
@json_option
def status(*, name: str | None, as_json: bool) -> None:
    """Show how far a campaign is: the numbers of its flow diagram, and its runs."""
    if name is None:
        _list(as_json=as_json)
        return
    row = found(name)
    said = as_dict(row)
    if as_json:
        print_json(said)
        return
    print_flow(said)
    for run in queries.runs(row)[:10]:
        why = f" ({carrying.message(run.last_error_code)})" if run.state in _ENDED_EARLY else ""
        click.echo(
            f"{run.started_at:%Y-%m-%d %H:%M}  {run.get_stage_display()}: {run.get_state_display()}{why}"
        )


@click.command()
@click.option("--name", required=True, help="Name of the campaign.")
@json_option
def cancel(*, name: str, as_json: bool) -> None:
    """Stop what is being done to a campaign after the step at hand. What was done stays."""
    running = queries.runs(found(name)).filter(state=CampaignRun.State.RUNNING).first()
    is_stopped = running is not None and runs.cancel(run=running, by=Operator(getpass.getuser()))
    if as_json:
        print_json({"cancelled": is_stopped})
    else:
        click.echo("Cancelled." if is_stopped else "Nothing is being done to it.")


def _list(*, as_json: bool) -> None:
    sizes = queries.sizes()
    if as_json:
        print_json({"campaigns": [{"name": name, "candidates": size} for name, size in sizes.items()]})
        return
    for name, size in sizes.items():
        click.echo(f"{name}\t{size:,} works")
    if not sizes:
        click.echo("No campaign yet: 'sci-rag campaign discover --name N --topic T' begins one.")


def as_dict(row: Campaign) -> dict[str, Any]:
    """Return the numbers of a campaign as a command prints them."""
    flow, last = queries.flow(row), included.current_round(row)
    return {
        "campaign": row.name,
        "round": None if last is None else last.number,
        "identified": flow.identified,
        "found_by": dict(flow.found_by),
        "duplicates": flow.duplicates,
        "unreadable": flow.unreadable,
        "candidates": flow.candidates,
        "not_screened": flow.unscreened,
        "screened": flow.screened,
        "included": flow.included,
        "excluded": flow.excluded,
        "awaiting": flow.awaiting,
        "refused": dict(flow.refused),
        "not_sought": flow.not_sought,
        "fetched": flow.fetched,
        "taken_in": dict(flow.taken_in),
    }


def print_flow(said: dict[str, Any]) -> None:
    """Print the numbers of `as_dict` in the order of the flow diagram."""
    labels = queries.labels()
    click.echo(f"Identified {said['identified']:,}: " + _counts(said["found_by"], {}))
    click.echo(f"  duplicates {said['duplicates']:,}, unreadable {said['unreadable']:,}")
    click.echo(
        f"Works {said['candidates']:,}, screened {said['screened']:,} (round {said['round'] or 'none'})"
    )
    click.echo(
        f"  included {said['included']:,}, excluded {said['excluded']:,}, waiting for a person "
        f"{said['awaiting']:,}, not screened yet {said['not_screened']:,}"
    )
    click.echo(f"Texts not retrieved {sum(said['refused'].values()):,}: " + _counts(said["refused"], labels))
    click.echo(f"  fetched {said['fetched']:,}, not fetched yet {said['not_sought']:,}")
    click.echo("In the corpus: " + _counts(said["taken_in"], labels))


def _counts(counts: dict[str, int], words: dict[str, str]) -> str:
    rows = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{words.get(name, name)} {count:,}" for name, count in rows) or "none"
