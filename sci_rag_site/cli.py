"""The `sci-rag` command. Commands load lazily, so that `--help` does not wait for Django."""

from __future__ import annotations

import logging
import os
import signal
import sys
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn

import click

# Group, name, where the command lives, what it is for. Kept here so that the list needs no imports.
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Start": {
        "demo": (
            "sci_rag_site.commands.demo:demo",
            "Set everything up, load the demo corpus, answer, serve.",
        ),
        "up": ("sci_rag_site.commands.up:up", "Run the site and its worker."),
        "database": (
            "sci_rag_site.commands.database:database",
            "Run the bundled PostgreSQL as a service of its own.",
        ),
        "doctor": ("sci_rag_site.commands.doctor:doctor", "Check the installation and say how to fix it."),
        "init": ("sci_rag_site.commands.init:init", "Write a settings file to fill in."),
        "users": ("sci_rag_site.commands.users:users", "Make accounts and put them into groups."),
        "backup": ("sci_rag_site.commands.backup:backup", "Keep database and originals in one file."),
        "restore": ("sci_rag_site.commands.backup:restore", "Get everything back from a backup."),
        "usage": ("corpus.usage.cli:usage", "See what models were used for, and what that cost."),
    },
    "Corpus": {
        "ingest": ("corpus.cli:ingest", "Take files into the corpus."),
        "manifest": ("corpus.cli:manifest", "Check a manifest before using it."),
        "corpus": ("corpus.cli:corpus", "Look at and manage the corpus."),
        "embed": ("corpus.cli_embed:embed", "Move the corpus to another embedding model."),
        "campaign": ("corpus.campaigns.cli:campaign", "Build a collection from a topic or a list of DOIs."),
    },
    "Rights": {
        "rights": (
            "sci_rag_site.commands.certificate:rights",
            "See what waits for a decision about rights, decide, certify.",
        ),
    },
    "Records": {
        "audit": ("corpus.audit.cli:audit", "Prove that records are as they were made."),
    },
    "Graph": {
        "graph": ("retrieval.cli_graph:graph", "Make and keep the knowledge graph."),
    },
    "Ask": {
        "retrieve": ("retrieval.cli:retrieve", "Find the passages that speak to a question."),
        "profile": ("retrieval.cli:profile", "Measure how long each way of searching takes."),
        "ask": ("answers.cli:ask", "Answer a question from the corpus, with citations."),
    },
    "Evaluate": {
        "eval": ("evaluation.cli:evaluate", "Measure retrieval and answers against known evidence."),
        "draft": ("evaluation.cli_draft:draft", "Propose questions, manifests and ontologies for review."),
    },
    "Other systems": {
        "keys": ("corpus.keys.cli:keys", "Make, list and revoke the keys of programs."),
        "mcp": ("sci_rag_site.commands.mcp:mcp", "Offer the corpus as tools, on standard input and output."),
        "webhooks": ("corpus.webhooks.cli:webhooks", "See who is told what happens, and test it."),
    },
    "Notes": {
        "note": ("answers.notebook.cli_note:note", "Keep notes with the sources behind them."),
        "source": ("answers.notebook.cli_source:source", "Register and check works, held or not."),
    },
}
COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}
ALIASES = {"answer": "ask"}
SERVERS = {"database", "up"}
# These say themselves what the database lacks.
PREPARED_BY_THEMSELVES = {"database", "up", "demo", "doctor", "restore"}
# Makes an unexpected error show where it came from.
TRACEBACK = "SCI_RAG_TRACEBACK"


class LazyGroup(click.Group):
    """A group whose commands are imported when they are run, and whose failures are one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = ALIASES.get(cmd_name, cmd_name)
        if name not in COMMANDS:
            return None
        import django
        from django.apps import apps

        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sci_rag_site.settings")
        # A second time it would set the logs of the process up anew.
        if not apps.ready:
            django.setup()
        if name not in SERVERS and "SCI_RAG_LOG_LEVEL" not in os.environ:
            # A command reports what it did; its logs are for when something is wrong.
            logging.getLogger().setLevel(logging.WARNING)
        module, attribute = COMMANDS[name][0].split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Have the command that was asked for find the tables of this version."""
        name, command, rest = super().resolve_command(ctx, args)
        if name not in PREPARED_BY_THEMSELVES:
            from sci_rag_site.commands import preparation

            ctx.with_resource(preparation.migrated_when_reached())
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for group, commands in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(name.ljust(width), text) for name, (_, text) in commands.items()])

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run as the console script; a polite request to end lets go of the database on the way out."""
        if kwargs.get("standalone_mode", True) and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, _end)
        return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            # Now, not at exit: a reader that went away is noticed while it can still be handled.
            sys.stdout.flush()
        except (click.ClickException, click.Abort, click.exceptions.Exit, OSError, SystemExit):
            raise
        except KeyboardInterrupt:
            click.echo("Stopped.", err=True)
            ctx.exit(130)
        except Exception as error:
            if os.environ.get(TRACEBACK):
                raise
            raise _readable(error) from error
        return result


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + signal.SIGTERM)


def _readable(error: Exception) -> click.ClickException:
    """Return one line that says what failed and, where that is known, what to do."""
    from django.core.exceptions import ImproperlyConfigured
    from django.db import Error as DatabaseError

    from sci_rag_site.database.errors import EmbeddedPostgresError

    if isinstance(error, (EmbeddedPostgresError, ImproperlyConfigured)):
        return click.ClickException(_one_line(error))
    if isinstance(error, DatabaseError):
        return click.ClickException(f"{_one_line(error)} {_advice(error)}")
    return click.ClickException(
        f"Unexpected error, {type(error).__name__}: {_one_line(error)} (set {TRACEBACK}=1 to see where)"
    )


def _one_line(error: Exception) -> str:
    """Return the first line of the message: the lines after it quote statements."""
    first = str(error).strip().partition("\n")[0]
    return f"{first.rstrip('.')}." if first else "no message."


def _advice(error: Exception) -> str:
    state = getattr(error.__cause__, "sqlstate", None) or ""
    if state in {"42P01", "42703"}:
        return "The database lacks tables of this version: run 'python manage.py migrate'."
    if state.startswith("53"):
        return "The database has run out of space, memory or connections: free some and run this again."
    if not state or state.startswith(("08", "57P", "28", "3D")):
        return "Check DATABASE_URL and that the server runs; 'sci-rag doctor' says more."
    return "'sci-rag doctor' says whether the database is sound."


@click.group(cls=LazyGroup)
@click.version_option(package_name="sci-rag")
def main() -> None:
    """Govern scientific documents and answer questions from them."""
