"""`sci-rag usage`: what models were used for."""

from __future__ import annotations

import click

from corpus.cli_output import json_option, print_json
from corpus.usage import queries
from corpus.usage.estimating import dollars
from corpus.usage.queries import DAYS, GROUPINGS, MOST_DAYS, Sums


@click.command()
@click.option(
    "--by",
    type=click.Choice(list(GROUPINGS)),
    default="purpose",
    show_default=True,
    help="Put it together by this.",
)
@click.option(
    "--days", type=click.IntRange(1, MOST_DAYS), default=DAYS, show_default=True, help="Of the last days."
)
@json_option
def usage(*, by: str, days: int, as_json: bool) -> None:
    """Say how many calls to models were made, for what and whom, with their tokens and what they cost.

    Cost is that of the calls with a price; of the others it says how many there are.
    """
    rows = queries.since(days)
    total, groups = queries.total(rows), queries.grouped(rows, by)
    if as_json:
        print_json(
            {
                "days": days,
                "total": total.as_dict(),
                "by": by,
                "rows": [{by: one.label, **one.as_dict()} for one in groups],
            }
        )
        return
    for one in groups:
        click.echo(f"{one.label}\t{_said(one)}")
    click.echo(f"In all, {days} days: {_said(total)}" if groups else f"No calls in the last {days} days.")


def _said(one: Sums) -> str:
    parts = [f"{one.calls:,} calls", f"{one.prompt_tokens:,} + {one.completion_tokens:,} tokens"]
    parts.append(dollars(one.known_cost))
    if one.unpriced_calls and one.known_cost is not None:
        parts.append(f"{one.unpriced_calls:,} calls without a price")
    if one.failures:
        parts.append(f"{one.failures:,} failed")
    if one.estimated_calls:
        parts.append(f"tokens of {one.estimated_calls:,} calls estimated")
    return ", ".join(parts)
