"""The `ask` command."""

from __future__ import annotations

import sys

import click

from answers import cli_report, engine, writers
from answers.hearing import Heard
from answers.models import EXTRACTIVE, MODEL
from corpus.audit.recording import Kind, record
from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_scope import scope_options
from corpus.scope import RetrievalScope
from retrieval.cli_search import PROFILE_HELP
from retrieval.profiles import UnknownProfile
from retrieval.request import MAX_LIMIT, InvalidRequest


@click.command()
@click.argument("question")
@click.option("--profile", default="interactive", show_default=True, help=PROFILE_HELP)
@click.option(
    "--limit",
    default=8,
    show_default=True,
    type=click.IntRange(1, MAX_LIMIT),
    help="How many passages to answer from.",
)
@click.option(
    "--engine",
    "engine_name",
    type=click.Choice([MODEL, EXTRACTIVE]),
    help="Who writes: the configured language model, or quotations alone.  [default: the model, if any]",
)
@click.option(
    "--compression/--no-compression",
    "compressed",
    default=None,
    help="Have the sources condensed for the model, or not.  [default: as the domain profile says]",
)
@scope_options(retracted_by_default=False, with_as_of=True)
@json_option
def ask(
    *,
    question: str,
    profile: str,
    limit: int,
    engine_name: str | None,
    compressed: bool | None,
    requested: RetrievalScope,
    as_json: bool,
) -> None:
    """Answer QUESTION from the corpus, with a citation for each claim."""
    try:
        # The operator meets no ceiling: whoever asks here looks past everybody's.
        record(Kind.OVERRIDDEN, by=None, about={"what": "answer without a ceiling"})
        events = engine.ask(
            question=question, requested=requested, by=None, profile=profile, limit=limit, engine=engine_name,
            compressed=compressed,
        )  # fmt: skip
    except (InvalidRequest, writers.EngineUnavailable, UnknownProfile) as error:
        raise click.UsageError(str(error)) from None
    told = Heard()
    for event in events:
        told.hear(event)
        if not as_json:
            cli_report.show(event, sys.stdout)
    if as_json:
        print_json(told.as_dict())
    else:
        cli_report.show_sources(told.sources, told.cited)
    if told.error:
        offer = " Add --engine extractive to see what the passages say." if told.error["offer"] else ""
        raise CommandFailed(f"{told.error['message']}{offer}")
