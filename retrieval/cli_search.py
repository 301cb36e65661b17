"""The options by which a command line says how to search."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypedDict, TypeVar

import click

from retrieval.profiles import LAYERS, NAMES

Command = TypeVar("Command", bound=Callable[..., Any])

PROFILE_HELP = f"How to search: {', '.join(NAMES)}."


class How(TypedDict):
    """The arguments of `retriever.retrieve` that these options stand for."""

    profile: str
    switches: dict[str, bool]
    reranker: str | None


def search_options(command: Command) -> Command:
    """Add the options; the command gets them as one argument, `how`."""
    options = [
        click.option("--profile", default="interactive", show_default=True, help=PROFILE_HELP),
        click.option(
            "--with", "put_in", multiple=True, type=click.Choice(LAYERS), help="Search this way too."
        ),
        click.option("--without", "left_out", multiple=True, type=click.Choice(LAYERS), help="Not this way."),
        click.option(
            "--reranker", type=click.Choice(["none", "model", "cross_encoder"]), help="Not the profile's."
        ),
    ]

    @wraps(command)
    def with_search(
        *,
        profile: str,
        put_in: tuple[str, ...],
        left_out: tuple[str, ...],
        reranker: str | None,
        **others: Any,
    ) -> Any:
        if both := set(put_in) & set(left_out):
            raise click.UsageError(f"{', '.join(sorted(both))}: both --with and --without.")
        switches = {**dict.fromkeys(put_in, True), **dict.fromkeys(left_out, False)}
        return command(how=How(profile=profile, switches=switches, reranker=reranker), **others)

    decorated: Any = with_search
    for option in reversed(options):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]
