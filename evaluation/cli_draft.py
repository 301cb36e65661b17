"""The command `draft questions`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_progress import bar_with_time_left
from corpus.cli_scope import scope_options
from corpus.gateways.llm import fast_model
from corpus.prompt_files import InvalidPrompt
from corpus.scope import RetrievalScope
from evaluation.actions.questions import QuestionError, add_set
from evaluation.drafting import choosing, proposing
from evaluation.drafting.proposing import Drafted, InvalidReplies
from evaluation.ground_truth.models import QuestionSet


@click.group()
def draft() -> None:
    """Propose what experts then review."""


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
@click.option("--print-prompts", is_flag=True, help="Write as JSONL what a model would be asked; ask nobody.")
@click.option(
    "--from-file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help='Take replies from JSONL lines {"passage": HASH, "reply": "..."} and ask nobody.',
)
@scope_options(retracted_by_default=False)
@json_option
def questions(
    *,
    question_set: str,
    count: int,
    seed: int,
    print_prompts: bool,
    from_file: Path | None,
    requested: RetrievalScope,
    as_json: bool,
) -> None:
    """Propose questions for QUESTION_SET, each from one passage of the corpus. The set is made if need be.

    A proposal whose evidence does not stand in its passage word by word is dropped and counted. What is
    added is a draft until an expert signs it. The passages are sent to the fast model: with a hosted one
    they leave the machine, so name a scope.
    """
    if print_prompts and from_file is not None:
        raise click.UsageError("--print-prompts and --from-file do not go together.")
    try:
        if print_prompts:
            kept = QuestionSet.objects.filter(name=question_set).first() or QuestionSet(name=question_set)
            passages = choosing.passages(requested, kept, count=count, seed=seed)
            sys.stdout.write(proposing.prompts_written(passages))
            return
        found_set = _set(question_set)
        if from_file is not None:
            drafted = _from_file(from_file, found_set, requested)
        else:
            drafted = _from_model(found_set, requested, count, seed)
    except InvalidReplies as error:
        name = "" if from_file is None else f"{from_file.name}:"
        raise CommandFailed("\n".join([name, *map(str, error.problems)])) from None
    except (QuestionError, InvalidPrompt) as error:
        raise CommandFailed(str(error)) from None
    _report(drafted, question_set, as_json=as_json)


def _set(name: str) -> QuestionSet:
    return QuestionSet.objects.filter(name=name).first() or add_set(name=name, by=None)


def _from_model(question_set: QuestionSet, scope: RetrievalScope, count: int, seed: int) -> Drafted:
    model = fast_model()
    if model is None:
        raise CommandFailed(
            "No language model is set: set SCI_RAG_LLM_MODEL, or use --print-prompts and --from-file."
        )
    passages = choosing.passages(scope, question_set, count=count, seed=seed)
    with bar_with_time_left() as bar:
        task = bar.add_task("Drafting", total=len(passages))

        def advance(number: int) -> None:
            bar.advance(task, number)

        return proposing.propose(
            passages=passages,
            ask=proposing.by_model(model),
            question_set=question_set,
            scope=scope,
            author=model.name,
            advance=advance,
        )


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
