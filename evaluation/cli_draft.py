"""The commands under `draft`, and `draft questions`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_progress import bar_with_time_left
from corpus.cli_scope import scope_options
from corpus.models import Chunk
from corpus.prompt_files import InvalidPrompt
from corpus.scope import RetrievalScope
from corpus.usage import accounts
from corpus.usage.budget import Budget, Cap
from corpus.usage.cli_caps import cap_options, checked, only_said, stop_at_the_cap
from evaluation.actions.questions import QuestionError, add_set
from evaluation.cli_draft_lanes import Lane, configured_model, lane_options
from evaluation.cli_draft_manifest import manifest
from evaluation.cli_draft_ontology import ontology
from evaluation.drafting import choosing, proposing
from evaluation.drafting.proposing import Drafted, InvalidReplies
from evaluation.ground_truth.models import QuestionSet


@click.group()
def draft() -> None:
    """Propose what people then review. Whatever is drafted is unsigned, and of unknown rights."""


draft.add_command(manifest)
draft.add_command(ontology)


@draft.command()
@click.argument("question_set")
@click.option(
    "--count", default=10, show_default=True, type=click.IntRange(1, 500), help="From how many passages."
)
@click.option(
    "--seed",
    default=1,
    show_default=True,
    type=click.IntRange(0, 2**31 - 1),
    help="Which passages are drawn.",
)
@lane_options('JSONL lines {"passage": HASH, "reply": "..."}')
@scope_options(retracted_by_default=False)
@cap_options
@json_option
def questions(
    *,
    question_set: str,
    count: int,
    seed: int,
    lane: Lane,
    requested: RetrievalScope,
    cap: Cap,
    as_json: bool,
) -> None:
    """Propose questions for QUESTION_SET, each from one passage of the corpus. The set is made if need be.

    A proposal whose evidence does not stand in its passage word by word is dropped and counted. What is
    added is a draft until an expert signs it. The passages are sent to the fast model: with a hosted one
    they leave the machine, so name a scope. Exit code 3 when a cap was reached: run it again for the others.
    """
    try:
        kept = QuestionSet.objects.filter(name=question_set).first() or QuestionSet(name=question_set)
        if lane.prints:
            passages = choosing.passages(requested, kept, count=count, seed=seed)
            sys.stdout.write(proposing.prompts_written(passages))
        elif lane.from_file is not None:
            drafted = _from_file(lane.from_file, _set(question_set), requested)
            _report(drafted, question_set, as_json=as_json)
        else:
            passages = choosing.passages(requested, kept, count=count, seed=seed)
            _with_model(question_set, passages, requested, lane, cap, as_json=as_json)
    except InvalidReplies as error:
        name = "" if lane.from_file is None else f"{lane.from_file.name}:"
        raise CommandFailed("\n".join([name, *map(str, error.problems)])) from None
    except (QuestionError, InvalidPrompt) as error:
        raise CommandFailed(str(error)) from None


def _set(name: str) -> QuestionSet:
    return QuestionSet.objects.filter(name=name).first() or add_set(name=name, by=None)


def _with_model(
    name: str, passages: list[Chunk], scope: RetrievalScope, lane: Lane, cap: Cap, *, as_json: bool
) -> None:
    """Have the model propose, or only say what that comes to."""
    model = configured_model()
    estimate = proposing.estimate(model, passages)
    if lane.dry_run:
        only_said(estimate, as_json=as_json)
        return
    budget = Budget(checked(cap, estimate))
    with bar_with_time_left() as bar, accounts.charged_to(budget=budget):
        task = bar.add_task("Drafting", total=len(passages))

        def advance(number: int) -> None:
            bar.advance(task, number)

        drafted = proposing.propose(
            passages=passages,
            ask=proposing.by_model(model),
            question_set=_set(name),
            scope=scope,
            author=model.name,
            advance=advance,
        )
    _report(drafted, name, as_json=as_json)
    if drafted.stopped:
        stop_at_the_cap(drafted.stopped)


def _from_file(path: Path, question_set: QuestionSet, scope: RetrievalScope) -> Drafted:
    given = proposing.replies_read(path)
    passages = proposing.passages_of(given, scope)
    drafted = proposing.propose(
        passages=passages,
        ask=lambda chunk: given[chunk.content_sha256],
        question_set=question_set,
        scope=scope,
        author=path.name,
    )
    if unknown := len(given) - len(passages):
        drafted.dropped["no_such_passage"] += unknown
    return drafted


def _report(drafted: Drafted, name: str, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {"question_set": name, "drafted": drafted.keys, "dropped": dict(sorted(drafted.dropped.items()))}
        )
        return
    click.echo(f"{len(drafted.keys)} questions drafted into {name}; an expert has to sign each.")
    for code, number in sorted(drafted.dropped.items()):
        click.echo(f"Dropped, {code.replace('_', ' ')}: {number}.")
