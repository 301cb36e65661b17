"""The ways in which a draft comes about: a model is asked, prompts are printed, replies are brought."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from corpus.cli_output import CommandFailed
from corpus.gateways.llm import ChatModel, fast_model

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Lane:
    """Which way was chosen. Without any of them the model is asked."""

    prints: bool
    from_file: Path | None
    dry_run: bool


def lane_options(replies: str) -> Callable[[Command], Command]:
    """Add `--print-prompt`, `--from-file` and `--dry-run`; the command gets them as one argument, `lane`."""
    options = [
        click.option(
            "--print-prompt", "--print-prompts", "prints", is_flag=True,
            help="Write what a model would be asked; ask nobody.",
        ),
        click.option(
            "--from-file", type=click.Path(path_type=Path, exists=True, dir_okay=False),
            help=f"Take what a model has replied elsewhere, as {replies}, and ask nobody.",
        ),
        click.option("--dry-run", is_flag=True, help="Say what asking the model comes to; ask nobody."),
    ]  # fmt: skip

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_lane(*, prints: bool, from_file: Path | None, dry_run: bool, **arguments: Any) -> Any:
            if prints + (from_file is not None) + dry_run > 1:
                raise click.UsageError("--print-prompt, --from-file and --dry-run do not go together.")
            return command(lane=Lane(prints, from_file, dry_run), **arguments)

        decorated: Any = with_lane
        for option in reversed(options):
            decorated = option(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


def configured_model() -> ChatModel:
    """Return the model that drafts; raise `CommandFailed` when none is set."""
    model = fast_model()
    if model is None:
        raise CommandFailed(
            "No language model is set: set SCI_RAG_LLM_MODEL, or use --print-prompt and --from-file."
        )
    return model


def new_file(path: Path | None) -> Path | None:
    """Return where a draft goes; raise `CommandFailed` where something is already."""
    if path is not None and path.exists():
        raise CommandFailed(f"{path} is there already: a draft replaces nothing. Name another file.")
    return path


def put(path: Path | None, text: str) -> None:
    """Write a draft to a new file, or to standard output."""
    if path is None:
        click.echo(text, nl=False)
        return
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise CommandFailed(
            f"{path} is there already: a draft replaces nothing. Name another file."
        ) from None
