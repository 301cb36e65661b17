"""`sci-rag draft ontology`: types of things and relations, for an expert to take or leave."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_scope import scope_options
from corpus.egress import Classes
from corpus.gateways.llm import ChatModel
from corpus.models import Chunk
from corpus.prompt_files import InvalidPrompt
from corpus.scope import RetrievalScope
from corpus.usage import accounts
from corpus.usage.budget import Budget, Cap
from corpus.usage.cli_caps import cap_options, checked, only_said, stop_at_the_cap
from corpus.usage.purposes import Purpose
from evaluation.cli_draft_lanes import Lane, configured_model, lane_options, new_file, put
from evaluation.drafting import ontology as drafting
from evaluation.drafting import ontology_replies
from evaluation.drafting.ontology_replies import Proposal
from evaluation.drafting.replies import Dropped
from retrieval.graph.ontology import InvalidOntology

_MOST_BYTES = 1_000_000


@click.command()
@click.option(
    "--count", default=20, show_default=True, type=click.IntRange(1, 60), help="From how many passages."
)
@click.option(
    "--seed",
    default=1,
    show_default=True,
    type=click.IntRange(0, 2**31 - 1),
    help="Which passages are drawn.",
)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to this new file.")
@lane_options("the reply itself, to the passages that --count, --seed and the scope draw")
@scope_options(retracted_by_default=False)
@cap_options
@json_option
def ontology(
    *,
    count: int,
    seed: int,
    output: Path | None,
    lane: Lane,
    requested: RetrievalScope,
    cap: Cap,
    as_json: bool,
) -> None:
    """Propose types of things and relations from passages drawn from the corpus, as an ontology file.

    Examples and phrases that stand in no passage are dropped and counted. The file that is in use is never
    touched. The passages are sent to the fast model, as far as their licences let them: name a scope.
    """
    if not lane.prints and not lane.dry_run:
        new_file(output)
    try:
        if lane.prints:
            system, user = drafting.prompt_of(_drawn(requested, count, seed))
            sys.stdout.write(json.dumps({"system": system, "user": user}, ensure_ascii=False) + "\n")
            return
        if lane.from_file is not None:
            chunks = _drawn(requested, count, seed)
            replied: tuple[str, str] | None = _read(lane.from_file), lane.from_file.name
        else:
            model = configured_model()
            chunks = _drawn(requested, count, seed, readable=model.readable(Purpose.DRAFTING))
            replied = _asked(model, chunks, requested, lane, cap, as_json=as_json)
        if replied is None:
            return
        reply, author = replied
        proposal = ontology_replies.read(reply, [chunk.body for chunk in chunks])
        text = drafting.checked(proposal.as_yaml(drafting.heading(author, chunks)))
    except Dropped as dropped:
        raise CommandFailed(f"Nothing was drafted: {dropped.code.replace('_', ' ')}.") from None
    except (InvalidOntology, InvalidPrompt) as error:
        raise CommandFailed(str(error)) from None
    put(output, text)
    _report(proposal, output, as_json=as_json)


def _drawn(scope: RetrievalScope, count: int, seed: int, *, readable: Classes | None = None) -> list[Chunk]:
    chunks = drafting.passages(scope, count=count, seed=seed, readable=readable)
    if not chunks:
        raise CommandFailed("No passage in this scope may be read for a draft.")
    return chunks


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise CommandFailed(f"{path.name} is larger than {_MOST_BYTES // 1_000_000} MB.")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise CommandFailed(f"{path.name} is not UTF-8 text.") from None


def _asked(
    model: ChatModel, chunks: list[Chunk], scope: RetrievalScope, lane: Lane, cap: Cap, *, as_json: bool
) -> tuple[str, str] | None:
    """Return the model's reply and name; None where only the estimate was to be said."""
    prompt = drafting.prompt_of(chunks)
    estimate = drafting.estimate(model, prompt)
    if lane.dry_run:
        only_said(estimate, as_json=as_json)
        return None
    budget = Budget(checked(cap, estimate))
    if stopped := budget.in_the_way_of(estimate.tokens):
        stop_at_the_cap(stopped)
    with accounts.charged_to(budget=budget):
        return drafting.asked(model, prompt, chunks, scope=scope), model.name


def _report(proposal: Proposal, output: Path | None, *, as_json: bool) -> None:
    if output is None:
        return
    dropped = {code: number for code, number in sorted(proposal.dropped.items()) if number}
    if as_json:
        print_json(
            {
                "output": str(output),
                "entity_types": len(proposal.entity_types),
                "relation_types": len(proposal.relation_types),
                "dropped": dropped,
            }
        )
        return
    click.echo(
        f"{len(proposal.entity_types)} types of things and {len(proposal.relation_types)} of relations "
        f"drafted into {output}; an expert has to take it over."
    )
    for code, number in dropped.items():
        click.echo(f"Left out, {code.replace('_', ' ')}: {number}.")
