"""How commands say what a run will come to, and take the cap it stops at."""

from __future__ import annotations

import sys
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from functools import wraps
from typing import Any, Final, NoReturn, TypeVar

import click

from corpus.cli_output import CommandFailed, print_json
from corpus.usage.budget import Cap
from corpus.usage.capping import cap_of_a_run
from corpus.usage.estimating import Estimate

Command = TypeVar("Command", bound=Callable[..., Any])
# Not done, and not failed: run it again under a higher cap.
STOPPED_AT_THE_CAP: Final = 3


class _Dollars(click.ParamType[Decimal]):
    name = "usd"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Decimal:
        try:
            amount = Decimal(str(value))
        except InvalidOperation:
            self.fail(f"{value!r} is not an amount of US dollars, as in 2.50.", param, ctx)
        if not amount.is_finite() or not 0 <= amount < 100_000_000:
            self.fail("An amount of US dollars is a number from 0 on.", param, ctx)
        return amount


def cap_options(command: Command) -> Command:
    """Add `--max-tokens` and `--max-cost`; the command gets them as one argument, `cap`."""

    @wraps(command)
    def with_cap(*, max_tokens: int | None, max_cost: Decimal | None, **arguments: Any) -> Any:
        return command(cap=Cap(max_tokens, max_cost), **arguments)

    decorated: Any = with_cap
    for option in (
        click.option("--max-cost", type=_Dollars(), help="Stop when calls have cost so many US dollars."),
        click.option(
            "--max-tokens", type=click.IntRange(min=1), help="Stop when calls have used so many tokens."
        ),
    ):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def checked(cap: Cap, estimate: Estimate) -> Cap:
    """Return the cap of a run that begins, that of the settings where none is named; say the estimate.

    On standard error, so that `--json` stays one object. A cap on cost where no price is known would stop
    the run after its first call: it is refused before.
    """
    for sentence in estimate.sentences():
        click.echo(sentence, err=True)
    if cap.max_cost_usd is not None and estimate.calls and estimate.cost_usd is None:
        raise CommandFailed(
            "--max-cost cannot be kept: the price of a model is not known. Name it in SCI_RAG_MODEL_PRICES, "
            "or use --max-tokens."
        )
    return cap_of_a_run(cap)


def only_said(estimate: Estimate, *, as_json: bool) -> None:
    """Report a dry run: the estimate and nothing else."""
    if as_json:
        print_json({"dry_run": True, "estimate": estimate.as_dict()})
        return
    for sentence in estimate.sentences():
        click.echo(sentence)


def stop_at_the_cap(reached: str) -> NoReturn:
    """End a command whose run stopped at its cap, after it has reported what it did."""
    click.echo(f"Stopped at the cap: {reached}. What is done is kept.", err=True)
    sys.exit(STOPPED_AT_THE_CAP)
