"""The commands `retrieve` and `profile`."""

from __future__ import annotations

import click

from corpus.audit.recording import Kind, record
from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_scope import scope_options
from corpus.domain_profile import InvalidProfile
from corpus.scope import RetrievalScope
from retrieval import cli_report, latency
from retrieval.cli_search import PROFILE_HELP, How, search_options
from retrieval.profiles import UnknownProfile
from retrieval.request import MAX_LIMIT, InvalidRequest
from retrieval.retriever import RetrievalFailed
from retrieval.retriever import retrieve as retrieve_passages


@click.command()
@click.argument("question")
@search_options
@click.option(
    "--limit", default=8, show_default=True, type=click.IntRange(1, MAX_LIMIT), help="How many passages."
)
@click.option("--explain-routing", is_flag=True, help="Say where --profile auto sends the question, and why.")
@scope_options(retracted_by_default=True, with_as_of=True)
@json_option
def retrieve(
    *, question: str, how: How, limit: int, explain_routing: bool, requested: RetrievalScope, as_json: bool
) -> None:
    """Find the passages that speak to QUESTION, within what the options allow."""
    # The operator meets no ceiling: whoever asks here looks past everybody's.
    if not requested.denied:
        record(Kind.OVERRIDDEN, by=None, about={"what": "search without a ceiling"})
    try:
        result = retrieve_passages(question=question, scope=requested, limit=limit, **how)
    except (UnknownProfile, InvalidRequest) as error:
        raise click.UsageError(str(error)) from None
    except (RetrievalFailed, InvalidProfile) as error:
        raise CommandFailed(str(error)) from error
    if as_json:
        routing = {"routing": result.route.as_dict()} if explain_routing else {}
        print_json({**result.as_dict(), **routing})
    else:
        cli_report.show(result)
        if explain_routing:
            cli_report.show_route(result.route)


@click.command()
@click.option("--profile", default="deep", show_default=True, help=PROFILE_HELP)
@click.option("--question", "questions", multiple=True, help="Ask this. Repeatable; else titles.")
@click.option(
    "--repeat", default=20, show_default=True, type=click.IntRange(1, 10_000), help="How many requests."
)
@scope_options(retracted_by_default=True)
@json_option
def profile(
    *, profile: str, questions: tuple[str, ...], repeat: int, requested: RetrievalScope, as_json: bool
) -> None:
    """Measure how long each layer takes on this corpus and machine."""
    try:
        measured = latency.measure(questions=questions, scope=requested, profile=profile, repeat=repeat)
    except (UnknownProfile, InvalidRequest, latency.NothingToAsk) as error:
        raise click.UsageError(str(error)) from None
    except (RetrievalFailed, InvalidProfile) as error:
        raise CommandFailed(str(error)) from error
    if as_json:
        print_json({"profile": profile, "requests": repeat, "stages": [row.as_dict() for row in measured]})
    else:
        cli_report.show_latency(measured)
