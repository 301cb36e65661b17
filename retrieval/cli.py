"""The `retrieve` command."""

from __future__ import annotations

import click

from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_scope import scope_options
from corpus.domain_profile import InvalidProfile
from corpus.scope import RetrievalScope
from retrieval import cli_report
from retrieval.profiles import UnknownProfile
from retrieval.request import MAX_LIMIT, InvalidRequest
from retrieval.retriever import RetrievalFailed
from retrieval.retriever import retrieve as retrieve_passages


@click.command()
@click.argument("question")
@click.option("--profile", default="interactive", show_default=True, help="How to search.")
@click.option(
    "--limit", default=8, show_default=True, type=click.IntRange(1, MAX_LIMIT), help="How many passages."
)
@scope_options(retracted_by_default=True)
@json_option
def retrieve(*, question: str, profile: str, limit: int, requested: RetrievalScope, as_json: bool) -> None:
    """Find the passages that speak to QUESTION, within what the options allow."""
    try:
        result = retrieve_passages(question=question, scope=requested, profile=profile, limit=limit)
    except (UnknownProfile, InvalidRequest) as error:
        raise click.UsageError(str(error)) from None
    except (RetrievalFailed, InvalidProfile) as error:
        raise CommandFailed(str(error)) from error
    if as_json:
        print_json(result.as_dict())
    else:
        cli_report.show(result)
