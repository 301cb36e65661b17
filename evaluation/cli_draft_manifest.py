"""`sci-rag draft manifest`: lines for the files of a folder, for a person to check."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_progress import bar_with_time_left
from corpus.inputs import NothingFound
from corpus.prompt_files import InvalidPrompt
from corpus.usage import accounts, estimating
from corpus.usage.budget import Budget, Cap
from corpus.usage.cli_caps import cap_options, checked, only_said, stop_at_the_cap
from evaluation.cli_draft_lanes import Lane, configured_model, lane_options, new_file, put
from evaluation.drafting import first_pages, proposing
from evaluation.drafting import manifest as drafting
from evaluation.drafting.manifest import Ask, Drafted
from evaluation.drafting.proposing import InvalidReplies

Files = list[tuple[str, Path]]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to this new file.")
@click.option(
    "--continue", "continues", is_flag=True, help="Add to --output the files that it does not name yet."
)
@click.option("--no-llm", is_flag=True, help="Ask no model: what the files state of themselves is all.")
@lane_options('JSONL lines {"file": PATH, "reply": "..."}')
@cap_options
@json_option
def manifest(
    *, folder: Path, output: Path | None, continues: bool, no_llm: bool, lane: Lane, cap: Cap, as_json: bool
) -> None:
    """Propose a manifest for the files of FOLDER, from their first pages.

    What a model says of a title, authors, a year, a DOI or a journal counts when it stands in the file;
    else it stands beside, as unconfirmed, and is not taken in. The licence is unknown on every line. Files
    are sent as of unknown rights. Exit code 3 when a cap was reached: --continue goes on.
    """
    if continues and output is None:
        raise click.UsageError("--continue needs --output.")
    try:
        done = _named(output) if continues and output is not None and output.exists() else set()
        if not continues and not lane.dry_run and not lane.prints:
            new_file(output)
        files = first_pages.files(folder, without=done)
        if lane.prints:
            sys.stdout.writelines(drafting.prompts_written(first_pages.beginnings(files)))
            return
        ask, author, budget = _way(lane, files, cap, no_llm=no_llm, as_json=as_json)
        if ask is None:
            return
        drafted = _drafted(files, ask, budget)
    except InvalidReplies as error:
        name = "" if lane.from_file is None else f"{lane.from_file.name}:"
        raise CommandFailed("\n".join([name, *map(str, error.problems)])) from None
    except (NothingFound, InvalidPrompt) as error:
        raise CommandFailed(str(error)) from None
    _keep(drafted, output, author, adds=bool(done))
    _report(drafted, output, as_json=as_json)
    if drafted.stopped:
        stop_at_the_cap(drafted.stopped)


def _named(path: Path) -> set[str]:
    try:
        return drafting.named_in(path)
    except (OSError, ValueError, KeyError, TypeError):
        raise CommandFailed(f"{path} is no manifest that could be continued.") from None


def _way(
    lane: Lane, files: Files, cap: Cap, *, no_llm: bool, as_json: bool
) -> tuple[Ask | None, str, Budget]:
    """Return whom to ask, by what name, and under which cap; nobody where only that was to be said."""
    if lane.from_file is not None:
        given = proposing.replies_read(lane.from_file, key="file")
        return drafting.by_replies(given), lane.from_file.name, Budget(Cap())
    if no_llm:
        return drafting.by_nobody, "what the files state", Budget(Cap())
    model = configured_model()
    sample = list(first_pages.beginnings(estimating.spread(files)))
    estimate = drafting.estimate(model, sample, files=len(files))
    if lane.dry_run:
        only_said(estimate, as_json=as_json)
        return None, "", Budget(Cap())
    return drafting.by_model(model), model.name, Budget(checked(cap, estimate))


def _drafted(files: Files, ask: Ask, budget: Budget) -> Drafted:
    with bar_with_time_left() as bar, accounts.charged_to(budget=budget):
        task = bar.add_task("Reading first pages", total=len(files))

        def advance(number: int) -> None:
            bar.advance(task, number)

        return drafting.draft(first_pages.beginnings(files), ask=ask, advance=advance)


def _keep(drafted: Drafted, output: Path | None, author: str, *, adds: bool) -> None:
    text = drafting.written(drafted, author=author, with_heading=not adds)
    if adds and output is not None:
        with output.open("a", encoding="utf-8") as file:
            file.write(text)
    elif output is not None:
        put(output, text)
    else:
        sys.stdout.write(text)


def _report(drafted: Drafted, output: Path | None, *, as_json: bool) -> None:
    if output is None:
        return
    if as_json:
        print_json(
            {
                "output": str(output),
                "files": len(drafted.rows),
                "unconfirmed": dict(sorted(drafted.unconfirmed.items())),
                "dropped": dict(sorted(drafted.dropped.items())),
                "stopped": drafted.stopped,
            }
        )
        return
    click.echo(
        f"{len(drafted.rows)} files drafted into {output}; licences are unknown. Somebody has to check it."
    )
    for name, number in sorted(drafted.unconfirmed.items()):
        click.echo(f"Not found in its file, {name}: {number}.")
    for code, number in sorted(drafted.dropped.items()):
        click.echo(f"Not read, {code.replace('_', ' ')}: {number}.")
