"""The `sci-rag` command. Groups load lazily, so that `--help` does not wait for Django."""

from __future__ import annotations

import os
from importlib import import_module

import click

# Name, where the command lives, what it is for. Kept here so that the list needs no imports.
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("sci_rag_site.commands.demo:demo", "Set everything up, load the demo corpus, answer, serve."),
    "up": ("sci_rag_site.commands.up:up", "Run the site and its worker."),
    "doctor": ("sci_rag_site.commands.doctor:doctor", "Check the installation and say how to fix it."),
    "ingest": ("corpus.cli:ingest", "Take files into the corpus."),
    "manifest": ("corpus.cli:manifest", "Check a manifest before using it."),
    "corpus": ("corpus.cli:corpus", "Look at and manage the corpus."),
    "retrieve": ("retrieval.cli:retrieve", "Find the passages that speak to a question."),
    "ask": ("answers.cli:ask", "Answer a question from the corpus, with citations."),
}
ALIASES = {"answer": "ask"}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = ALIASES.get(cmd_name, cmd_name)
        if name not in COMMANDS:
            return None
        import django

        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sci_rag_site.settings")
        django.setup()
        module, attribute = COMMANDS[name][0].split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyGroup)
@click.version_option(package_name="sci-rag")
def main() -> None:
    """Govern scientific documents and answer questions from them."""
