"""`sci-rag mcp`: the corpus as tools for a program on this machine, over standard input and output."""

from __future__ import annotations

import os

import click

from corpus.cli_output import CommandFailed
from corpus.keys.authentication import KeyRefused

KEY = "SCI_RAG_API_KEY"


@click.command()
@click.option("--user", metavar="NAME", help=f"Speak for this account instead of a key in {KEY}.")
def mcp(*, user: str | None) -> None:
    """Serve the tools of the Model Context Protocol on standard input and output, until the input ends.

    Under the rights of the key in SCI_RAG_API_KEY, or of the account that is named.
    """
    from sci_rag_site.mcp import stdio
    from sci_rag_site.mcp.callers import ByAccount, ByKey, Identity

    secret = os.environ.get(KEY, "")
    if bool(user) == bool(secret):
        raise click.UsageError(
            f"Set {KEY} to a key, or name an account with --user, not both."
            if user
            else f"Set {KEY} to a key ('sci-rag keys create' makes one), or name an account with --user."
        )
    identity: Identity = ByAccount(user) if user else ByKey(secret)
    try:
        identity.asking()
    except KeyRefused:
        named = f"There is no active account called {user!r}." if user else f"The key in {KEY} is not valid."
        raise CommandFailed(named) from None
    stdio.serve(identity)
